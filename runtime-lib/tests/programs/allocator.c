/* An instrumented allocator in place of libc's. */
#include "emitted.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FUNCTION(allocate, 1, 4, 10, 0);
FUNCTION(release, 2, 4, 10, 0);
FUNCTION(body, 3, 4, 10, 0);

enum { THREADS = 40, KEYS = 64 };

static _Alignas(16) char heap[64 << 20];
static atomic_size_t used;
static atomic_ullong allocations, releases;

void *malloc(size_t size)
{
    ENTER(allocate);
    PATH(allocate, 1);
    atomic_fetch_add(&allocations, 1);
    size_t whole = (size + 31) & ~(size_t)15;
    size_t at = atomic_fetch_add(&used, whole);
    PATH(allocate, 2);
    if (at + whole > sizeof heap) {
        errno = ENOMEM;
        return NULL;
    }
    *(size_t *)(heap + at) = size;
    return heap + at + 16;
}

void free(void *memory)
{
    ENTER(release);
    atomic_fetch_add(&releases, 1);
    PATH(release, memory != NULL);
}

void *calloc(size_t count, size_t size)
{
    return malloc(count * size);
}

void *realloc(void *old, size_t size)
{
    void *new = malloc(size);
    if (new && old) {
        size_t before = ((size_t *)old)[-2];
        memcpy(new, old, before < size ? before : size);
        free(old);
    }
    return new;
}

static void *body(void *unused)
{
    ENTER(body);
    for (int i = 0; i < 100; i++) {
        void *volatile memory = malloc(100);
        PATH(body, 1);
        free(memory);
    }
    return unused;
}

/* Keys made before the runtime's own, so that setting it needs memory. */
static void take_keys(void)
{
    for (int i = 0; i < KEYS; i++) {
        pthread_key_t key;
        pthread_key_create(&key, NULL);
    }
}

__attribute__((section(".preinit_array"), used)) static void (*const early)(void) = take_keys;

__attribute__((destructor(101))) static void tell(void)
{
    char text[64];
    int len = snprintf(text, sizeof text, "%llu %llu\n", (unsigned long long)atomic_load(&allocations),
                       (unsigned long long)atomic_load(&releases));
    fwrite(text, 1, (size_t)len, stderr);
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, body, NULL))
            return 1;
        pthread_join(thread, NULL);
    }
    return 0;
}
