/* Many threads hit one fuzzed point. Prints how often it fired. */
#include "points.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS = 8, HITS = 20000 };

static const struct info work_infos[] = {{1, "work#0", "work", "work.osr", 0, 5, FUZZ, 0}};
POINTS(work, "fuzzed_threads.c", 1, 1, work_infos);

static atomic_ulong fired;

static void *work(void *unused)
{
    for (int i = 0; i < HITS; i++)
        if (FUZZED(work, 0))
            atomic_fetch_add(&fired, 1);
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, NULL))
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%lu %llu\n", fired, midflight_osr_count("work#0"));
    return 0;
}
