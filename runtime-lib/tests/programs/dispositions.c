/* What a program sees of signals that the runtime catches: nothing. */
#include "emitted.h"
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What emitted code calls. */
int midflight_sigaction(int, const struct sigaction *, struct sigaction *);
void (*midflight_signal(int, void (*)(int)))(int);
void (*midflight_sysv_signal(int, void (*)(int)))(int);

FUNCTION(handler, 1, 4, 10, 0);

static volatile int handled;

static void handle(int number)
{
    ENTER(handler);
    PATH(handler, 1);
    handled = number;
}

static void check(int condition)
{
    if (!condition)
        _exit(99);
}

int main(int argc, char **argv)
{
    (void)argv;
    struct sigaction action = {0}, before;
    for (int number = 1; number <= 64; number++) {
        if (number == SIGKILL || number == SIGSTOP || number == 32 || number == 33)
            continue;
        check(!midflight_sigaction(number, NULL, &before));
        check(before.sa_handler == SIG_DFL && before.sa_flags == 0);
        check(sigismember(&before.sa_mask, SIGINT) == 0);
    }
    /* A handler of the program's own takes the place of the runtime's. */
    check(midflight_signal(SIGTERM, handle) == SIG_DFL);
    raise(SIGTERM);
    check(handled == SIGTERM);
    check(midflight_signal(SIGTERM, SIG_IGN) == handle);
    raise(SIGTERM);
    check(midflight_sysv_signal(SIGTERM, handle) == SIG_IGN);
    raise(SIGTERM);
    /* One shot. */
    check(!midflight_sigaction(SIGTERM, NULL, &before) && before.sa_handler == SIG_DFL);
    action.sa_handler = handle;
    check(!midflight_sigaction(SIGUSR1, &action, &before) && before.sa_handler == SIG_DFL);
    check(!midflight_sigaction(SIGUSR1, &before, &action) && action.sa_handler == handle);
    /* Errors are libc's. */
    errno = 0;
    check(midflight_signal(1000, handle) == SIG_ERR && errno == EINVAL);
    check(midflight_sigaction(SIGKILL, &action, NULL) == -1 && errno == EINVAL);
    check(midflight_signal(SIGKILL, SIG_DFL) == SIG_ERR);
    if (argc > 1) {
        /* The default is restored, and with it the runtime's handler. */
        raise(SIGUSR1);
        return 98;
    }
    return 0;
}
