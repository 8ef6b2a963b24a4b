/* A child made by clone, on a stack of two pages, ends as before an exec. */
#define _GNU_SOURCE
#include "emitted.h"
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

FUNCTION(child, 1, 4, 10, 0);
FUNCTION(parent, 2, 4, 10, 0);

enum { STACK = 8192 };

static int run(void *unused)
{
    (void)unused;
    ENTER(child);
    PATH(child, 1);
    midflight_before_end();
    _exit(5);
}

int main(void)
{
    ENTER(parent);
    char *stack = mmap(0, 3 * STACK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED || mprotect(stack + STACK, STACK, PROT_READ | PROT_WRITE))
        return 1;
    int pid = clone(run, stack + 2 * STACK - 64, SIGCHLD, 0);
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return 2;
    PATH(parent, 1);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}
