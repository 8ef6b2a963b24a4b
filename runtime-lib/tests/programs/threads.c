/* Threads that start and end in waves, and threads that still run when the program ends. */
#include "emitted.h"
#include <pthread.h>
#include <stdatomic.h>

enum { WAVES = 5, THREADS = 8, ACTIVATIONS = 2000, RUNNERS = 3 };

FUNCTION(work, 1, 4, 100, 0);
FUNCTION(forever, 2, 4, 100, 0);

static atomic_int warm;

static void *work(void *seed)
{
    for (int i = 0; i < ACTIVATIONS; i++) {
        ENTER(work);
        for (int j = 0; j < 5; j++)
            PATH(work, (i * 7 + j * (1 + (int)(intptr_t)seed)) % 100);
    }
    return NULL;
}

static void *forever(void *unused)
{
    (void)unused;
    for (long i = 0;; i++) {
        ENTER(forever);
        for (int j = 0; j < 10; j++)
            PATH(forever, (uint32_t)(i * i + j) % 100);
        if (i == 1000)
            atomic_fetch_add(&warm, 1);
    }
}

int main(void)
{
    pthread_t threads[THREADS], runner;
    for (int i = 0; i < RUNNERS; i++)
        if (pthread_create(&runner, NULL, forever, NULL))
            return 1;
    for (int wave = 0; wave < WAVES; wave++) {
        for (intptr_t i = 0; i < THREADS; i++)
            if (pthread_create(&threads[i], NULL, work, (void *)i))
                return 1;
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    while (atomic_load(&warm) < RUNNERS)
        ;
    return 0;
}
