/* Signals that interrupt the runtime anywhere; their handler runs the function that it interrupts. */
#include "emitted.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

enum { KILLS = 30000, EVENTS = 1500000 };

/* Algorithm 4 as published has its children in lists: few, so that walking them does not take all the time. */
#ifdef ALL_PUBLISHED
enum { PATHS = 300 };
#else
enum { PATHS = 3000 };
#endif

FUNCTION(shared, 1, 5, PATHS, 0);
FUNCTION(other, 2, 3, 10, 0);

/* Once: a handler that takes longer than this must not be all that runs. */
static const struct itimerval soon = {{0, 0}, {0, 100}};

static volatile uint64_t handled;
static atomic_int done;
static pthread_t victim;

static void shared(uint32_t *random, int events)
{
    ENTER(shared);
    for (int i = 0; i < events; i++) {
        *random = *random * 1664525 + 1013904223;
        /* Mostly few paths, at times one of many. */
        uint32_t bits = *random >> 16;
        PATH(shared, bits % 8 ? bits % 7 : bits % PATHS);
    }
}

static void handler(int signal)
{
    static uint32_t random = 12345;
    (void)signal;
    ENTER(other);
    shared(&random, 3);
    PATH(other, 1);
    PATH(other, 2);
    handled = handled + 1;
    if (!atomic_load(&done))
        setitimer(ITIMER_REAL, &soon, NULL);
}

static void *kill_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < KILLS && !atomic_load(&done); i++)
        pthread_kill(victim, SIGUSR1);
    return NULL;
}

int main(void)
{
    struct sigaction action;
    struct itimerval never = {{0, 0}, {0, 0}};
    pthread_t killer;
    uint32_t random = 1;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigfillset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    victim = pthread_self();
    setitimer(ITIMER_REAL, &soon, NULL);

    /* The killer must not take the timer's signals: random is the victim's own. */
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    if (pthread_create(&killer, NULL, kill_often, NULL))
        return 1;
    pthread_sigmask(SIG_SETMASK, &old, NULL);

    for (int i = 0; i < EVENTS / 1000; i++)
        shared(&random, 1000);
    atomic_store(&done, 1);
    pthread_join(killer, NULL);
    setitimer(ITIMER_REAL, &never, NULL);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    printf("%llu\n", (unsigned long long)handled);
    return 0;
}
