/* A process that forks while another thread arms and disarms; parent and child hit a point. */
#include "points.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 20 };

static const struct info work_infos[] = {{1, "work#0", "work", "work.osr", 0, 5, FUZZ, 0},
                                         {2, "flag", "work", "work.osr", 1, 6, FLAG, 0}};
POINTS(work, "fuzzed_fork.c", 2, 2, work_infos);

static atomic_int stop;

static void *arm(void *unused)
{
    while (!atomic_load(&stop))
        if (midflight_osr_arm("flag") != 1 || midflight_osr_disarm("flag") != 1)
            abort();
    return unused;
}

static int hit(int times)
{
    int fired = 0;
    for (int i = 0; i < times; i++)
        fired += FUZZED(work, 0);
    return fired;
}

int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, arm, NULL))
        return 1;
    int fired = hit(100);
    for (int i = 0; i < CHILDREN; i++) {
        pid_t pid = fork();
        if (pid < 0)
            return 1;
        if (pid == 0) {
            /* The lock is free in the child, and it has counted nothing. */
            if (midflight_osr_arm("flag") != 1 || midflight_osr_count("*") != 0)
                _exit(1);
            exit(hit(10) == 1 ? 0 : 2);
        }
        int status;
        if (waitpid(pid, &status, 0) != pid || status != 0)
            return 2;
    }
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
    printf("%d\n", fired);
    return 0;
}
