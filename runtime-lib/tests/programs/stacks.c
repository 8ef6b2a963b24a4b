/* Stacks for handlers: "see" prints all that can be seen of them; "overflow" overflows a stack. With "off"
 * the program has turned its own off before, with "own" it has one, on which its handler runs. The third
 * argument "thread" has it happen in a thread. */
#define _GNU_SOURCE
#include "emitted.h"
#include "asked.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

FUNCTION(before, 1, 4, 10, 0);
FUNCTION(handler, 2, 4, 10, 0);

static const char *how, *what;
static char own[1 << 16], other[1 << 16];
static volatile int depth;

__attribute__((noinline)) static int overflow(volatile char *frame)
{
    volatile char room[4096];
    room[0] = *frame;
    return ++depth < 0 ? 0 : overflow(room) + room[0];
}

static void show(const char *when, int result, const stack_t *stack)
{
    printf("%s: %d", when, result);
    if (result)
        printf(" errno %d", errno);
    if (stack)
        printf(" %s %d %zu", stack->ss_sp == own ? "own" : stack->ss_sp == other ? "other" : stack->ss_sp ? "unknown" : "null",
               stack->ss_flags, stack->ss_size);
    puts("");
}

static void show_now(const char *when)
{
    stack_t now;
    memset(&now, 77, sizeof now);
    show(when, sigaltstack(NULL, &now), &now);
}

static void handle(int number)
{
    (void)number;
    ENTER(handler);
    PATH(handler, 1);
    stack_t off = {0}, next = {0};
    off.ss_flags = SS_DISABLE;
    next.ss_sp = other;
    next.ss_size = sizeof other;
    show_now("in the handler");
    show("off in the handler", sigaltstack(&off, NULL), NULL);
    show("other in the handler", sigaltstack(&next, NULL), NULL);
    next.ss_size = 10;
    show("small in the handler", sigaltstack(&next, NULL), NULL);
    next.ss_flags = 77;
    show("wrong in the handler", sigaltstack(&next, NULL), NULL);
}

static void see(void)
{
    stack_t mine = {0}, off = {0}, old;
    mine.ss_sp = own;
    mine.ss_size = sizeof own;
    off.ss_flags = SS_DISABLE;
    show_now("at first");
    show("off without one", sigaltstack(&off, &old), &old);
    show("on", sigaltstack(&mine, &old), &old);
    show_now("on");
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    show_now("behind the handler");
    show("off", sigaltstack(&off, &old), &old);
    show_now("off");
    old = off;
    show("both", sigaltstack(&old, &old), &old);
    mine.ss_size = 100;
    show("small", sigaltstack(&mine, &old), NULL);
    mine.ss_flags = 77;
    show("wrong", sigaltstack(&mine, NULL), NULL);
    show_now("at last");
}

static void *act(void *unused)
{
    ENTER(before);
    PATH(before, 1);
    stack_t mine = {0}, off = {0};
    mine.ss_sp = own;
    mine.ss_size = sizeof own;
    off.ss_flags = SS_DISABLE;
    if (!strcmp(how, "see")) {
        see();
        return unused;
    }
    if (strcmp(what, "never"))
        sigaltstack(&mine, NULL);
    if (!strcmp(what, "off"))
        sigaltstack(&off, NULL);
    volatile char first = 0;
    overflow(&first);
    return unused;
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : "see";
    what = argc > 2 ? argv[2] : "";
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (argc <= 3) {
        act(NULL);
        return 0;
    }
    pthread_t id;
    if (pthread_create(&id, NULL, act, NULL))
        return 1;
    pthread_join(id, NULL);
    return 0;
}
