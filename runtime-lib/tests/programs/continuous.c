/* Counts in all the ways that there are, in several threads one after the other, and then ends as the
 * second argument says. The first argument says what else is done:
 *
 *     plain          nothing
 *     paused         in the middle of a pause
 *     resumed        after a pause
 *     reset          the counters are set to zero in between
 *     hungry         memory is taken until there is no more
 *     LIBRARY        that library is loaded, run and unloaded, twice
 *
 * Before the end the profile is written to `ordinary`, so that it can be compared. */
#include "emitted.h"
#include "midflight.h"
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern uint64_t midflight_run(uint64_t, uint32_t, uint64_t, struct forest *);

FUNCTION(counted, 1, 1, 1000, COUNTING);
FUNCTION(single, 2, 1, 100, 0);
FUNCTION(dense, 3, 3, 3, 0);
FUNCTION(regular, 4, 4, 100, 0);
FUNCTION(irregular, 5, 16, 50, 0);
FUNCTION(many, 6, 2, 6000, 0);
FUNCTION(rounds, 7, 4, 20, 0);
FUNCTION(unused, 8, 4, 20, 0);
FUNCTION(forever, 9, 4, 12, 0);
FUNCTION(stranger, 10, 4, 100, 0);

enum { THREADS = 4 };

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void work(uint32_t seed)
{
    ENTER(counted);
    ENTER(single);
    ENTER(dense);
    ENTER(regular);
    ENTER(irregular);
    ENTER(many);
    ENTER(rounds);
    ENTER(unused);
    for (uint32_t i = 0; i < 6000; i++) {
        COUNT(counted, i % 7 * 100);
        PATH(single, i * i % 100);
        PATH(dense, i * i % 3);
        PATH(regular, i % 10);
        PATH(irregular, next_random(&seed) % 50);
        PATH(many, i);
        PATH(many, 0);
    }
    /* Where memory is full, each round is counted by itself. */
    const char *memory = getenv("MIDFLIGHT_THREAD_MEMORY");
    uint64_t number = memory && !strcmp(memory, "1G") ? 3000000000u : 3000;
    for (int i = 0; i < 5; i++) {
        PATH(rounds, 1);
        rounds_state = midflight_run(rounds_state, 2, number, rounds_forest);
    }
}

static void *run(void *seed)
{
    work((uint32_t)(uintptr_t)seed);
    return NULL;
}

static int use_library(const char *path)
{
    for (int i = 0; i < 2; i++) {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library)
            return 1;
        ((void (*)(void))dlsym(library, "run"))();
        dlclose(library);
    }
    return 0;
}

static volatile int ready;

static void *run_forever(void *unused)
{
    (void)unused;
    for (uint32_t seed = 1;;) {
        ENTER(forever);
        for (int i = 0; i < 10; i++)
            PATH(forever, i);
        ENTER(irregular);
        PATH(irregular, next_random(&seed) % 50);
        PATH(irregular, next_random(&seed) % 50);
        PATH(irregular, next_random(&seed) % 50);
        if (!ready)
            __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
    }
}

static int forever_in_threads(void)
{
    pthread_t id;
    for (int i = 0; i < 8; i++)
        if (pthread_create(&id, NULL, run_forever, NULL))
            return 1;
    while (!ready)
        usleep(100);
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}

/* A process that libc knows nothing of: it takes known paths, and then others. */
static int with_stranger(void)
{
    ENTER(stranger);
    for (int i = 0; i < 1000; i++)
        PATH(stranger, i % 10);
    int known[2], done[2];
    if (pipe(known) || pipe(done))
        return 1;
    long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        char byte;
        for (int i = 0; i < 10; i++)
            PATH(stranger, i);
        if (read(known[0], &byte, 1) != 1)
            _exit(1);
        /* The parent has built more, which this process has not. */
        for (int i = 0; i < 100000; i++)
            PATH(stranger, i % 97);
        ENTER(regular);
        PATH(regular, 5);
        if (midflight_profile_write("strange.mfp") == 0)
            _exit(2);
        midflight_before_end();
        if (fork() == 0) {
            PATH(regular, 6);
            exit(0);
        }
        wait(NULL);
        exit(0);
    }
    for (int i = 0; i < 50000; i++)
        PATH(stranger, i * 31 % 100);
    if (write(known[1], "x", 1) != 1)
        return 1;
    int status;
    if (waitpid((pid_t)child, &status, 0) != child || status != 0)
        return 3;
    PATH(stranger, 99);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 1;
    const char *what = argv[1], *how = argv[2];
    if (!strcmp(what, "forever"))
        return forever_in_threads();
    if (!strcmp(what, "stranger")) {
        int result = with_stranger();
        if (!strcmp(how, "kill"))
            kill(getpid(), SIGKILL);
        return result;
    }
    for (uintptr_t i = 0; i < THREADS; i++) {
        pthread_t id;
        if (pthread_create(&id, NULL, run, (void *)(i + 1)) || pthread_join(id, NULL))
            return 1;
    }
    work(0);
    if (!strcmp(what, "reset")) {
        midflight_profile_reset();
        work(9);
    } else if (!strcmp(what, "paused") || !strcmp(what, "resumed")) {
        midflight_profile_pause();
        work(9);
        if (!strcmp(what, "resumed")) {
            midflight_profile_resume();
            work(10);
        }
    } else if (!strcmp(what, "hungry")) {
        for (;;) {
            volatile char *memory = malloc(1 << 20);
            for (int i = 0; memory && i < 1 << 20; i += 1024)
                memory[i] = 1;
        }
    } else if (strcmp(what, "plain") && use_library(what)) {
        return 1;
    }
    if (midflight_profile_write("ordinary"))
        return 2;
    if (!strcmp(how, "kill"))
        kill(getpid(), SIGKILL);
    return 0;
}
