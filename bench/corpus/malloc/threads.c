/* Threads that allocate, resize and free objects of all sizes, their own and each other's, and look after
 * what is in them. Prints a line that is always the same. */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, ROUNDS = 3, STEPS = 4000, PLACES = 64 };

struct place {
    pthread_mutex_t lock;
    unsigned char *memory;
    size_t size;
    unsigned char mark;
};

static struct place places[PLACES];

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    abort();
}

static uint32_t next(uint32_t *random)
{
    *random = *random * 1664525 + 1013904223;
    return *random >> 8;
}

static void look_after(const struct place *place, size_t size)
{
    for (size_t i = 0; i < size; i += i < 64 ? 1 : 97)
        if (place->memory[i] != place->mark)
            fail("an object was overwritten");
}

static void fill(struct place *place, unsigned char *memory, size_t size, uint32_t mark)
{
    if (!memory || malloc_usable_size(memory) < size)
        fail("an object is too small");
    place->memory = memory;
    place->size = size;
    place->mark = (unsigned char)mark;
    memset(memory, place->mark, size);
}

static void step(uint32_t *random)
{
    struct place *place = &places[next(random) % PLACES];
    uint32_t kind = next(random) % 8;
    size_t size = next(random) % (kind == 7 ? 200000 : kind == 6 ? 9000 : 300);
    pthread_mutex_lock(&place->lock);
    if (!place->memory) {
        size_t alignment = (size_t)16 << kind * 2;
        if (kind < 3) {
            fill(place, malloc(size), size, *random);
        } else if (kind < 5) {
            unsigned char *memory = calloc(size, 1);
            for (size_t i = 0; i < size; i++)
                if (memory[i])
                    fail("calloc gave something that is not zero");
            fill(place, memory, size, *random);
        } else {
            unsigned char *memory = aligned_alloc(alignment, size);
            if ((uintptr_t)memory % alignment)
                fail("an object is not aligned");
            fill(place, memory, size, *random);
        }
    } else {
        look_after(place, place->size);
        if (kind < 3) {
            unsigned char *memory = realloc(place->memory, size + 1);
            place->memory = memory;
            look_after(place, size < place->size ? size : place->size);
            fill(place, memory, size + 1, *random);
        } else {
            free(place->memory);
            place->memory = NULL;
        }
    }
    pthread_mutex_unlock(&place->lock);
}

static void *work(void *seed)
{
    uint32_t random = (uint32_t)(uintptr_t)seed;
    for (int i = 0; i < STEPS; i++)
        step(&random);
    return seed;
}

int main(void)
{
    for (int i = 0; i < PLACES; i++)
        pthread_mutex_init(&places[i].lock, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            if (pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)(round * THREADS + i + 1)))
                fail("no thread");
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < PLACES; i++)
        free(places[i].memory);
    printf("%d steps\n", THREADS * ROUNDS * STEPS);
    return 0;
}
