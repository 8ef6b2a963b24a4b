/* Handlers for one time. The first argument is what they do, or what happens to them; the second their
 * flags, with "t" in a thread. */
#define _GNU_SOURCE
#include "emitted.h"
#include "asked.h"
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

FUNCTION(before, 1, 4, 10, 0);
FUNCTION(handler, 2, 4, 10, 0);

static const char *how, *flags;
static int number;
static sigjmp_buf back;
static atomic_int handled;

static void check(int condition, int status)
{
    if (!condition)
        _exit(status);
}

static void handle(int signal_number, siginfo_t *info, void *context)
{
    ENTER(handler);
    PATH(handler, 1);
    check(signal_number == number, 90);
    if (strchr(flags, 'i'))
        check(info->si_signo == number && context, 91);
    atomic_fetch_add(&handled, 1);
    errno = 5;
    if (!strcmp(how, "raise"))
        raise(number);
    else if (!strcmp(how, "kill"))
        kill(getpid(), number);
    else if (!strcmp(how, "pthread_kill"))
        pthread_kill(pthread_self(), number);
    else if (!strcmp(how, "tgkill"))
        syscall(SYS_tgkill, getpid(), gettid(), number);
    else if (!strcmp(how, "jump"))
        siglongjmp(back, 1);
    PATH(handler, 2);
}

/* As a handler of one argument. */
static void (*simple(void))(int)
{
    return (void (*)(int))(void (*)(void))handle;
}

static void fault(void)
{
    *(volatile int *)8 = 1;
}

static void *act(void *unused)
{
    if (!strcmp(how, "fault")) {
        fault();
    } else if (!strcmp(how, "jump")) {
        if (!sigsetjmp(back, 1))
            fault();
        fault();
    } else {
        /* One that returns, or sends it again itself. */
        raise(number);
        raise(number);
    }
    _exit(92);
    return unused;
}

static struct sigaction once(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handle;
    action.sa_flags = SA_RESETHAND;
    if (strchr(flags, 'n'))
        action.sa_flags |= SA_NODEFER;
    if (strchr(flags, 'i'))
        action.sa_flags |= SA_SIGINFO;
    if (strchr(flags, 'r'))
        action.sa_flags |= SA_RESTART;
    sigaddset(&action.sa_mask, SIGUSR2);
    return action;
}

static void show(const char *when)
{
    struct sigaction now;
    memset(&now, 0, sizeof now);
    int result = sigaction(number, NULL, &now);
    printf("%s: %d %s flags %x mask %d %d\n", when, result,
           now.sa_handler == SIG_DFL                   ? "default"
           : now.sa_handler == SIG_IGN                 ? "ignore"
           : now.sa_sigaction == handle                ? "handle"
                                                       : "other",
           (unsigned)now.sa_flags & ~0x4000000u, sigismember(&now.sa_mask, SIGUSR2),
           sigismember(&now.sa_mask, number));
}

static void show_handler(const char *when, void (*handler)(int))
{
    printf("%s: %s\n", when,
           handler == SIG_DFL                  ? "default"
           : handler == SIG_IGN                ? "ignore"
           : handler == SIG_ERR                ? "error"
           : handler == SIG_HOLD               ? "hold"
           : handler == simple()  ? "handle"
                                               : "other");
}

/* All that can be seen of it. */
static void see(void)
{
    struct sigaction action = once(), before;
    show("at first");
    sigaction(number, &action, NULL);
    show("set");
    siginterrupt(number, 0);
    show("restarting");
    errno = 7;
    raise(number);
    printf("errno %d\n", errno);
    show("spent");
    siginterrupt(number, 1);
    sigaction(number, &action, &action);
    show("set again");
    printf("was %d %x\n", action.sa_handler == SIG_DFL, (unsigned)action.sa_flags & SA_RESETHAND);
    action = once();
    sigaction(number, &action, &before);
    printf("was %d\n", before.sa_sigaction == handle);
    show_handler("signal", signal(number, SIG_IGN));
    show_handler("signal", signal(number, SIG_DFL));
    sigaction(number, &action, NULL);
    show_handler("signal of once", signal(number, simple()));
    show_handler("sysv_signal", sysv_signal(number, simple()));
    show("sysv");
    raise(number);
    show("sysv spent");
    show_handler("sysv_signal", sysv_signal(number, SIG_IGN));
    show_handler("sysv_signal", sysv_signal(number, SIG_ERR));
    show_handler("sysv_signal", sysv_signal(1000, simple()));
    show_handler("sigset", sigset(number, SIG_DFL));
    show_handler("sigset", sigset(number, simple()));
    raise(number);
    show_handler("sigset", sigset(number, SIG_HOLD));
    raise(number);
    show_handler("sigset, pending", sigset(number, simple()));
    show_handler("sigset", sigset(number, SIG_HOLD));
    show_handler("sigset", sigset(number, SIG_DFL));
    show_handler("sigset", sigset(number, SIG_DFL));
    show_handler("sigset", sigset(1000, SIG_DFL));
    sigaction(number, &action, NULL);
    /* A child of vfork has its own dispositions. */
    pid_t child = vfork();
    if (child == 0) {
        signal(number, SIG_DFL);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    show("behind vfork");
    raise(number);
    show("spent behind vfork");
    sigaction(number, &action, NULL);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        raise(number);
        show("in a child");
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    show("behind a child");
    raise(number);
    show("spent behind a child");
    printf("errors %d %d\n", sigaction(SIGKILL, &action, NULL), errno);
    printf("errors %d %d\n", sigaction(1000, &action, &before), errno);
    printf("errors %d %d\n", sigaction(-1, &action, &before), errno);
    printf("handled %d\n", atomic_load(&handled));
}

enum { ROUNDS = 5000 };

static pthread_barrier_t begun, done;

static void *send(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&begun);
        raise(number);
        pthread_barrier_wait(&done);
    }
    return unused;
}

/* A thread takes the signal while another one changes what is done about it. */
static void race(void)
{
    struct sigaction always = once(), action = once(), before;
    always.sa_flags = 0;
    pthread_t id;
    check(!pthread_barrier_init(&begun, NULL, 2) && !pthread_barrier_init(&done, NULL, 2), 93);
    check(!pthread_create(&id, NULL, send, NULL), 94);
    for (int i = 0; i < ROUNDS; i++) {
        sigaction(number, &action, NULL);
        pthread_barrier_wait(&begun);
        for (volatile int wait = i % 100; wait; wait--)
            ;
        sigaction(number, &always, &before);
        check(before.sa_handler == SIG_DFL || before.sa_sigaction == handle, 95);
        pthread_barrier_wait(&done);
        check(atomic_load(&handled) == i + 1, 96);
    }
    pthread_join(id, NULL);
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : "see";
    flags = argc > 2 ? argv[2] : "";
    number = !strcmp(how, "fault") || !strcmp(how, "jump") ? SIGSEGV : SIGTERM;
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    ENTER(before);
    PATH(before, 1);
    if (!strcmp(how, "see")) {
        see();
        return 0;
    }
    if (!strcmp(how, "race")) {
        race();
        return 0;
    }
    struct sigaction action = once();
    if (!strcmp(how, "sysv"))
        sysv_signal(number, simple());
    else
        sigaction(number, &action, NULL);
    if (!strchr(flags, 't'))
        act(NULL);
    pthread_t id;
    if (pthread_create(&id, NULL, act, NULL))
        return 1;
    pthread_join(id, NULL);
    return 93;
}
