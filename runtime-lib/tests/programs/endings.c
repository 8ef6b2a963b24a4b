/* Ends of the process that run no destructor: the first argument says which. Before it eight
 * threads have counted as well, and are still there. */
#include "emitted.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

FUNCTION(before, 1, 4, 10, 0);
FUNCTION(thread, 2, 4, 10, 0);
FUNCTION(child, 3, 4, 10, 0);
FUNCTION(late, 4, 4, 10, 0);

enum { THREADS = 8 };

static pthread_barrier_t counted;

static void *run(void *unused)
{
    ENTER(thread);
    for (int i = 0; i < 1000; i++)
        PATH(thread, i % 10);
    pthread_barrier_wait(&counted);
    for (;;)
        pause();
    return unused;
}

static void in_quick_exit(void)
{
    ENTER(late);
    PATH(late, 1);
}

static volatile int depth;

__attribute__((noinline)) static int overflow(volatile char *frame)
{
    volatile char room[4096];
    room[0] = *frame;
    return ++depth < 0 ? 0 : overflow(room) + room[0];
}

static void *overflow_in_thread(void *unused)
{
    ENTER(late);
    PATH(late, 2);
    volatile char first = 0;
    overflow(&first);
    return unused;
}

static void in_child(const char *how)
{
    ENTER(child);
    PATH(child, 7);
    PATH(child, 8);
    midflight_before_end();
    if (!strcmp(how, "exec")) {
        execl("/bin/true", "true", (char *)NULL);
        abort();
    }
    _exit(0);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    signal(SIGPIPE, SIG_DFL); /* libc's own: the runtime's handler is gone for it */
    if (!strcmp(how, "become")) {
        ENTER(before);
        PATH(before, 1);
        midflight_before_end();
        execl(argv[0], argv[0], "again", (char *)NULL);
        return 1;
    }
    if (!strcmp(how, "again")) {
        ENTER(late);
        PATH(late, 9);
        return 0;
    }
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    ENTER(before);
    for (int i = 0; i < 500; i++)
        PATH(before, i % 3);
    pthread_barrier_init(&counted, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        pthread_t id;
        if (pthread_create(&id, NULL, run, NULL))
            return 1;
    }
    pthread_barrier_wait(&counted);
    if (!strcmp(how, "_exit")) {
        midflight_before_end();
        _exit(7);
    } else if (!strcmp(how, "quick_exit")) {
        at_quick_exit(in_quick_exit);
        quick_exit(7);
    } else if (!strcmp(how, "abort")) {
        abort();
    } else if (!strcmp(how, "fault")) {
        *(volatile int *)8 = 1;
    } else if (!strcmp(how, "overflow")) {
        volatile char first = 0;
        overflow(&first);
    } else if (!strcmp(how, "overflow-in-thread")) {
        pthread_t id;
        pthread_create(&id, NULL, overflow_in_thread, NULL);
        pthread_join(id, NULL);
    } else if (!strcmp(how, "wait")) {
        puts("ready");
        fflush(stdout);
        for (;;)
            pause();
    } else if (!strcmp(how, "exec")) {
        midflight_before_end();
        execl("/bin/true", "true", (char *)NULL);
    } else if (!strcmp(how, "failing-exec")) {
        midflight_before_end();
        execl("/there/is/no/such/program", "no", (char *)NULL);
        PATH(before, 9);
        return 7;
    } else if (!strcmp(how, "fork-exec") || !strcmp(how, "vfork-exec")) {
        for (int i = 0; i < 3; i++) {
            pid_t id = how[0] == 'v' ? vfork() : fork();
            if (id == 0)
                in_child("exec");
            waitpid(id, NULL, 0);
        }
        return 7;
    } else {
        int number = atoi(how);
        kill(getpid(), number);
        for (;;)
            pause();
    }
    return 1;
}
