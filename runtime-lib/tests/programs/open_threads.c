/* For so many seconds eight threads fire points and leave versions, and one of them invalidates what
 * they assume. A version must be for the key that it was found with, or for all. */
#include "open.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 8, KEYS = 5 };

OPEN(first, KEY_VALUE);
OPEN(second, KEY_VALUE);

static int stopping;
static long found_all;

static void *run(void *seed)
{
    uint32_t random = 1 + (uint32_t)(uintptr_t)seed;
    long found = 0;
    while (!__atomic_load_n(&stopping, __ATOMIC_RELAXED)) {
        random = random * 1664525 + 1013904223;
        struct site *site = random >> 31 ? &first_site : &second_site;
        uint64_t key = (random >> 16) % KEYS;
        version *version = fire(site, key);
        if (version) {
            found++;
            long result = version(5);
            if (result != (long)key * 1000 + 5 && result != OF_GENERIC)
                abort();
        }
        if ((random >> 8) % 4096 == 0)
            leave(site);
        if (seed == NULL && (random >> 8) % 65536 == 0) {
            const struct made *made = CACHE(first);
            midflight_invalidate(&assumed, (int64_t)random);
            if (made && !__atomic_load_n(&made->invalid, __ATOMIC_RELAXED))
                abort();
        }
    }
    __atomic_fetch_add(&found_all, found, __ATOMIC_RELAXED);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)i);
    struct timespec time = {argc > 1 ? atoi(argv[1]) : 2, 0};
    nanosleep(&time, NULL);
    __atomic_store_n(&stopping, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("found %d\n", found_all > 100);
    return 0;
}
