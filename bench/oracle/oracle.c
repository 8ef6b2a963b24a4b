/* The other side of the plugin's `oracle` option: counts edges, or logs blocks, and writes the
 * result to the file that MIDFLIGHT_ORACLE names. It shares nothing with the path profiler but the
 * record, from which it reads the function's key.
 *
 * Edges are written as text when the program ends, a line each: key in hex, index of the edge in
 * the record, count. Blocks are written as they come, 24 bytes each, in the machine's byte order:
 * key, activation, block, and zero. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void midflight_oracle_edge(const void *record, uint32_t edge);
void midflight_oracle_block(const void *record, uint64_t *activation, uint32_t block);

struct function {
    const void *record;
    uint64_t *counts;
    uint32_t size;
};

struct event {
    uint64_t key, activation;
    uint32_t block, zero;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct function *functions; /* a hash table, open addressing */
static uint32_t slots, used;
static uint64_t activations;
static FILE *output;

static void give_up(const char *what) {
    perror(what);
    abort();
}

/* A program may free its environment before it ends, so that is asked once. */
static FILE *open_output(void) {
    if (output)
        return output;
    const char *name = getenv("MIDFLIGHT_ORACLE");
    if (name && !(output = fopen(name, "wb")))
        give_up("oracle: cannot open the file of MIDFLIGHT_ORACLE");
    return output;
}

static uint64_t key_of(const void *record) {
    uint64_t key;
    memcpy(&key, (const char *)record + 8, sizeof key);
    return key;
}

static struct function *slot_of(struct function *table, uint32_t size, const void *record) {
    uint32_t at = (uint32_t)((uintptr_t)record >> 3) * 2654435761u >> 8 & (size - 1);
    while (table[at].record && table[at].record != record)
        at = (at + 1) & (size - 1);
    return &table[at];
}

static void grow_table(void) {
    uint32_t size = slots ? 2 * slots : 1024;
    struct function *table = calloc(size, sizeof *table);
    if (!table)
        give_up("oracle: cannot allocate its table");
    for (uint32_t i = 0; i < slots; i++)
        if (functions[i].record)
            *slot_of(table, size, functions[i].record) = functions[i];
    free(functions);
    functions = table;
    slots = size;
}

static void grow_counts(struct function *function, uint32_t edge) {
    uint32_t size = 2 * edge + 16;
    function->counts = realloc(function->counts, size * sizeof *function->counts);
    if (!function->counts)
        give_up("oracle: cannot allocate counters");
    memset(function->counts + function->size, 0,
           (size - function->size) * sizeof *function->counts);
    function->size = size;
}

void midflight_oracle_edge(const void *record, uint32_t edge) {
    pthread_mutex_lock(&lock);
    if (2 * used >= slots)
        grow_table();
    struct function *function = slot_of(functions, slots, record);
    if (!function->record) {
        function->record = record;
        used++;
    }
    if (edge >= function->size)
        grow_counts(function, edge);
    function->counts[edge]++;
    pthread_mutex_unlock(&lock);
}

void midflight_oracle_block(const void *record, uint64_t *activation, uint32_t block) {
    pthread_mutex_lock(&lock);
    if (block == 0)
        *activation = ++activations;
    struct event event = {key_of(record), *activation, block, 0};
    if (open_output() && fwrite(&event, sizeof event, 1, output) != 1)
        give_up("oracle: cannot write its log");
    pthread_mutex_unlock(&lock);
}

__attribute__((destructor)) static void finish(void) {
    if (!open_output())
        return;
    for (uint32_t i = 0; i < slots; i++)
        for (uint32_t edge = 0; edge < functions[i].size; edge++)
            if (functions[i].counts[edge])
                fprintf(output, "%016llx %u %llu\n",
                        (unsigned long long)key_of(functions[i].record), edge,
                        (unsigned long long)functions[i].counts[edge]);
    if (fclose(output) != 0)
        give_up("oracle: cannot write its file");
}
