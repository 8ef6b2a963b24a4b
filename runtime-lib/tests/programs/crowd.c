/* Many threads at once, each with more different sequences than there is memory for. */
#include "emitted.h"
#include <pthread.h>

enum { THREADS = 64, EVENTS = 20000, ROUNDS = 1000 };

FUNCTION(noisy, 1, 8, 50, 0);
FUNCTION(plain, 2, 8, 50, 0);

static pthread_barrier_t all;

static void *work(void *seed)
{
    uint32_t random = (uint32_t)(intptr_t)seed * 7919 + 1;
    pthread_barrier_wait(&all);
    ENTER(noisy);
    for (int i = 0; i < EVENTS; i++) {
        random = random * 1664525 + 1013904223;
        PATH(noisy, (random >> 16) % 50);
    }
    ENTER(plain);
    for (int i = 0; i < ROUNDS; i++)
        PATH(plain, 7);
    pthread_barrier_wait(&all);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&all, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i))
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
