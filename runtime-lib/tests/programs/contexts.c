/* Counts calling contexts in all the ways that there are, in several threads, and then ends as the
 * second argument says. The first argument says what else is done:
 *
 *     plain          nothing
 *     paused         in the middle of a pause
 *     resumed        after a pause
 *     reset          the counters are set to zero in between
 *     deep           recursion that is deeper than there may be memory for
 *     forever        threads go on until the program is killed, and note in `progress` how far they are
 *     forks          children are made while another thread makes contexts
 *     stranger       a process is made that libc knows nothing of
 *     LIBRARY        that library is loaded, run and unloaded, twice
 *
 * Before the end the profile is written to `ordinary`, so that it can be compared. */
#include "contexts.h"
#include "midflight.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

CONTEXT(leaf, 1, 0);
CONTEXT(other, 2, 0);
CONTEXT(another, 3, 0);
CONTEXT(dispatch, 4, 1);
CONTEXT(deep, 5, 1);
CONTEXT(tree, 6, 2);
CONTEXT(work, 7, 5);
CONTEXT(grow, 8, 16);
CONTEXT(go, 9, 3);

enum { THREADS = 3, DEPTH = 12, CHILDREN = 12, ROUNDS = 500 };

APART void leaf(void)
{
    BEGIN(leaf);
    END();
}

APART void other(void)
{
    BEGIN(other);
    END();
}

APART void another(void)
{
    BEGIN(another);
    END();
}

static void (*const callees[])(void) = {leaf, other, another};

APART void dispatch(int which)
{
    BEGIN(dispatch);
    CALL(0, callees[which % 3]());
    END();
}

APART int deep(int n)
{
    BEGIN(deep);
    int below = 0;
    if (n) {
        below = CALL(0, deep(n - 1));
    }
    END();
    return below + 1;
}

APART void tree(int depth)
{
    BEGIN(tree);
    if (depth) {
        CALL(0, tree(depth - 1));
        CALL(1, tree(depth - 1));
    }
    END();
}

APART void work(int rounds)
{
    BEGIN(work);
    for (int i = 0; i < rounds; i++) {
        CALL(0, leaf());
        CALL(1, dispatch(i));
    }
    CALL(2, deep(40));
    CALL(3, tree(7));
    CALL(4, another());
    END();
}

/* One of very many contexts. */
APART void grow(uint32_t seed, int depth)
{
    BEGIN(grow);
    seed = seed * 1664525u + 1013904223u;
    if (depth) {
        CALL(seed >> 28, grow(seed, depth - 1));
    }
    END();
}

/* 3 + 2 + DEPTH activations. */
APART void go(uint32_t seed)
{
    BEGIN(go);
    CALL(0, leaf());
    CALL(1, dispatch((int)(seed % 3)));
    CALL(2, grow(seed, DEPTH));
    END();
}

static pthread_barrier_t together;

static void *run(void *rounds)
{
    pthread_barrier_wait(&together);
    work((int)(uintptr_t)rounds);
    pthread_barrier_wait(&together);
    return NULL;
}

static int run_threads(void)
{
    pthread_t ids[THREADS];
    for (int turn = 0; turn < 2; turn++) {
        for (uintptr_t i = 0; i < THREADS; i++)
            if (pthread_create(&ids[i], NULL, run, (void *)(100 * (i + 1))))
                return 1;
        for (int i = 0; i < THREADS; i++)
            pthread_join(ids[i], NULL);
    }
    return 0;
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

/* How often each thread has begun and ended to `go`. */
static volatile uint64_t (*progress)[2];

/* How many different contexts `go` leads to, and whether threads take their time to make them. */
static uint32_t seeds = 2000;
static int is_slow;

static void *go_forever(void *number)
{
    volatile uint64_t *mine = progress[(uintptr_t)number];
    for (uint32_t seed = 0;; seed = (seed + 1) % seeds) {
        mine[0]++;
        __asm__ volatile("" ::: "memory");
        go((seed * 4 + (uint32_t)(uintptr_t)number) * 2654435761u);
        __asm__ volatile("" ::: "memory");
        mine[1]++;
        if (is_slow && seed % 4 == 0)
            usleep(200);
    }
    return NULL;
}

static int start(int threads)
{
    int file = open("progress", O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, 4096))
        return 1;
    progress = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    pthread_t id;
    for (uintptr_t i = 0; i < (uintptr_t)threads; i++)
        if (progress == MAP_FAILED || pthread_create(&id, NULL, go_forever, (void *)i))
            return 1;
    while (!progress[0][1])
        usleep(100);
    return 0;
}

static void *go_on(void *seed)
{
    for (uint32_t i = 0; i < ROUNDS; i++)
        go(((uint32_t)(uintptr_t)seed * ROUNDS + i) * 2246822519u);
    return NULL;
}

/* The new threads of a child take over what the parent's thread was about to change. */
static int with_children(const char *how)
{
    seeds = 1 << 20;
    is_slow = 1;
    if (start(1))
        return 1;
    for (int i = 0; i < CHILDREN; i++) {
        usleep(300);
        pid_t child = fork();
        if (child == 0) {
            pthread_t ids[2];
            for (uintptr_t j = 0; j < 2; j++)
                if (pthread_create(&ids[j], NULL, go_on, (void *)j))
                    _exit(1);
            for (int j = 0; j < 2; j++)
                pthread_join(ids[j], NULL);
            if (!strcmp(how, "kill"))
                kill(getpid(), SIGKILL);
            exit(0);
        }
        int status;
        if (waitpid(child, &status, 0) != child)
            return 1;
        if (strcmp(how, "kill") ? status != 0 : !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
            return 2;
    }
    return 0;
}

static int with_stranger(void)
{
    for (uint32_t i = 0; i < 1000; i++)
        go(i % 9);
    int known[2];
    if (pipe(known))
        return 1;
    long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        char byte;
        for (uint32_t i = 0; i < 9; i++)
            go(i);
        if (read(known[0], &byte, 1) != 1)
            _exit(1);
        for (uint32_t i = 0; i < 3000; i++)
            go(i * 2654435761u);
        if (midflight_profile_write("strange.mfp") == 0)
            _exit(2);
        work(5);
        exit(0);
    }
    if (write(known[1], "x", 1) != 1)
        return 1;
    for (uint32_t i = 0; i < 5000; i++)
        go(i * 2246822519u);
    int status;
    if (waitpid((pid_t)child, &status, 0) != child || status != 0)
        return 3;
    go(3);
    return 0;
}

static int finish(const char *how)
{
    if (!strcmp(how, "kill"))
        kill(getpid(), SIGKILL);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 1;
    const char *what = argv[1], *how = argv[2];
    pthread_barrier_init(&together, NULL, THREADS);
    if (!strcmp(what, "forever")) {
        if (start(4))
            return 1;
        puts("ready");
        fflush(stdout);
        for (;;)
            pause();
    }
    if (!strcmp(what, "forks"))
        return with_children(how);
    if (!strcmp(what, "stranger")) {
        int status = with_stranger();
        return status ? status : finish(how);
    }
    if (run_threads())
        return 1;
    work(1000);
    if (!strcmp(what, "reset")) {
        midflight_profile_reset();
        work(9);
    } else if (!strcmp(what, "paused") || !strcmp(what, "resumed")) {
        if (midflight_profile_pause())
            return 4;
        work(30);
        deep(3);
        if (!strcmp(what, "resumed")) {
            if (midflight_profile_resume())
                return 4;
            work(20);
        }
    } else if (!strcmp(what, "deep")) {
        for (int i = 0; i < 3; i++)
            if (deep(20000) != 20001)
                return 1;
    } else if (strcmp(what, "plain") && use_library(what)) {
        return 1;
    }
    if (midflight_profile_write("ordinary"))
        return 2;
    return finish(how);
}
