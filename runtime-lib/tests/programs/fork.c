/* A process that forks from live activations while other threads build nodes. */
#include "emitted.h"
#include <pthread.h>
#include <stdatomic.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef KILLED
enum { END = SIGKILL }; /* of the children */
#else
enum { END = 0 };
#endif
enum { CHILDREN = 20, BEFORE = 1000, EACH = 100, NOISE = 400 };

FUNCTION(parent, 1, 4, 100, 0);
FUNCTION(child, 2, 4, 100, 0);
FUNCTION(noise, 3, 4, 200, 0);

static atomic_int stop;

static void *noise(void *seed)
{
    uint32_t random = (uint32_t)(uintptr_t)seed;
    for (int n = 0; !atomic_load(&stop); n++) {
        if (n >= NOISE) { /* enough nodes; go on with known ones */
            random = (uint32_t)(uintptr_t)seed;
            n = 0;
        }
        ENTER(noise);
        for (int i = 0; i < 50; i++) {
            random = random * 1664525 + 1013904223;
            PATH(noise, (random >> 16) % 200);
        }
    }
    return NULL;
}

static void in_child(void)
{
    ENTER(child);
    for (int i = 0; i < EACH; i++)
        PATH(child, i % 10);
}

int main(void)
{
    pthread_t threads[2];
    for (uintptr_t i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, noise, (void *)(i + 1)))
            return 1;
    ENTER(parent);
    for (int i = 0; i < BEFORE; i++)
        PATH(parent, i % 100);
    for (int i = 0; i < CHILDREN; i++) {
        usleep(1000); /* let the others build */
        pid_t pid = fork();
        if (pid < 0)
            return 1;
        if (pid == 0) {
            PATH(parent, 7); /* goes on in the parent's activation */
            in_child();
            kill(getpid(), END);
            exit(0);
        }
        int status;
        if (waitpid(pid, &status, 0) != pid || status != END)
            return 1;
        PATH(parent, 8);
    }
    atomic_store(&stop, 1);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
