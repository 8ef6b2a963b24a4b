/* Eight threads that count, are interrupted by signals whose handler counts too, and come and go; while
 * the main thread forks children that count and end in all ways. Runs for so many seconds, and prints
 * what was counted:
 *
 *     work ENTRIES EVENTS
 *     handler ENTRIES EVENTS
 *     children NUMBER
 */
#include "emitted.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

FUNCTION(work, 1, 4, 6, 0);
FUNCTION(handler, 2, 3, 5, 0);
FUNCTION(child, 3, 4, 20, 0);
FUNCTION(many, 4, 4, 5000, 0);

/* ThreadSanitizer keeps others from the handlers of a child that was forked from several threads. */
#ifdef WATCHED
#define FATAL SIGILL
#else
#define FATAL SIGTERM
#endif

enum { THREADS = 8, ROUNDS = 2000, CHILD_EVENTS = 10 };

static uint64_t work_entries, work_events, handler_entries, handler_events;
static int stopping;

static void on_signal(int number)
{
    (void)number;
    ENTER(handler);
    uint64_t n = __atomic_fetch_add(&handler_entries, 1, __ATOMIC_RELAXED) % 7;
    for (uint64_t i = 0; i <= n; i++)
        PATH(handler, (n + i * i) % 5);
    __atomic_fetch_add(&handler_events, n + 1, __ATOMIC_RELAXED);
}

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static void count_some(uint32_t *seed)
{
    ENTER(work);
    ENTER(many);
    for (int i = 0; i < 50; i++) {
        PATH(work, next_random(seed) % 6);
        PATH(many, next_random(seed) % 5000);
    }
    __atomic_fetch_add(&work_entries, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&work_events, 50, __ATOMIC_RELAXED);
}

/* Process IDs come again when there were enough threads: each profile gets a name of its own. */
static void keep_profile(pid_t id, int number)
{
    char from[40], to[60];
    snprintf(from, sizeof from, "midflight-%d.mfp", (int)id);
    snprintf(to, sizeof to, "midflight-%d-child-%d.mfp", (int)id, number);
    if (rename(from, to))
        perror(from);
}

static void *run(void *argument)
{
    uint32_t seed = (uint32_t)(uintptr_t)argument * 2654435761u | 1;
    for (int i = 0; i < ROUNDS && !__atomic_load_n(&stopping, __ATOMIC_RELAXED); i++)
        count_some(&seed);
    return NULL;
}

static void end_child(int how)
{
    ENTER(child);
    for (int i = 0; i < CHILD_EVENTS; i++)
        PATH(child, (i * how) % 20);
    switch (how) {
    case 0: exit(0);
    case 1: midflight_before_end(); _exit(0);
    case 2: raise(FATAL); break;
    case 3: abort();
    case 4: quick_exit(0);
    default: midflight_before_end(); execl("/bin/true", "true", (char *)NULL);
    }
    _exit(99);
}

/* Starts each thread again when it has ended. */
static void *keep_running(void *argument)
{
    uintptr_t number = (uintptr_t)argument;
    while (!__atomic_load_n(&stopping, __ATOMIC_RELAXED)) {
        pthread_t id;
        if (pthread_create(&id, NULL, run, (void *)number))
            abort();
        number += THREADS;
        struct timespec pause = {0, 1000000};
        for (int i = 0; i < 3; i++) {
            nanosleep(&pause, NULL);
            pthread_kill(id, SIGUSR1); /* it is not joined, so its ID is valid */
        }
        pthread_join(id, NULL);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 3);
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    pthread_t keepers[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&keepers[i], NULL, keep_running, (void *)(i + 1)))
            return 1;
    int children = 0;
    for (; time(NULL) < end; children++) {
        pid_t id = fork();
        if (id == 0)
            end_child(children % 6);
        int status;
        while (waitpid(id, &status, 0) < 0) {
        }
        if (WIFEXITED(status) && WEXITSTATUS(status) == 99)
            return 2;
        keep_profile(id, children);
        kill(getpid(), SIGALRM);
        struct timespec pause = {0, 20000000};
        nanosleep(&pause, NULL);
    }
    __atomic_store_n(&stopping, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++)
        pthread_join(keepers[i], NULL);
    printf("work %llu %llu\n", (unsigned long long)work_entries, (unsigned long long)work_events);
    printf("handler %llu %llu\n", (unsigned long long)handler_entries,
           (unsigned long long)handler_events);
    printf("children %d\n", children);
    return 0;
}
