/* Counts in turns with the profile paused and not, in the main thread and in another one that runs all
 * the while; prints how often each path was taken while it was not paused. With an argument, the
 * profile is written there in the middle of a pause. */
#include "emitted.h"
#include "midflight.h"
#include <pthread.h>
#include <stdio.h>

enum { PATHS = 40, ROUNDS = 12, EVENTS = 3000 };

FUNCTION(varied, 1, 4, PATHS, 0);
FUNCTION(counted, 2, 1, PATHS, COUNTING);
FUNCTION(other, 3, 4, 3, 0);

static unsigned long long taken[PATHS], entries;
static int stopping;

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void segment(int paused, uint32_t *seed)
{
    ENTER(varied);
    ENTER(counted);
    entries += !paused;
    for (int i = 0; i < EVENTS; i++) {
        /* Half of it regular, so that something is worth keeping. */
        uint32_t id = i % 2 ? next_random(seed) % PATHS : (uint32_t)i % 8;
        PATH(varied, id);
        COUNT(counted, id);
        taken[id] += !paused;
    }
}

static void *run(void *unused)
{
    ENTER(other);
    while (!__atomic_load_n(&stopping, __ATOMIC_RELAXED))
        for (int i = 0; i < 3; i++)
            PATH(other, i);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t id;
    uint32_t seed = 5;
    if (pthread_create(&id, NULL, run, NULL))
        return 1;
    for (int round = 0; round < ROUNDS; round++) {
        segment(0, &seed);
        if (midflight_profile_pause() || midflight_profile_pause())
            return 2;
        segment(1, &seed);
        if (argc > 1 && round == ROUNDS / 2 && midflight_profile_write(argv[1]))
            return 3;
        segment(1, &seed);
        if (argc > 1 && round == ROUNDS / 2)
            break;
        if (midflight_profile_resume() || midflight_profile_resume())
            return 4;
    }
    __atomic_store_n(&stopping, 1, __ATOMIC_RELAXED);
    pthread_join(id, NULL);
    printf("%llu", entries);
    for (int i = 0; i < PATHS; i++)
        printf(" %llu", taken[i]);
    printf("\n");
    return 0;
}
