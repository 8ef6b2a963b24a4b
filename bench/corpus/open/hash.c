/* A hash table of open addressing, with what hashes and compares keys by pointers in it. */
#include "common.h"

typedef struct {
  uint64_t (*hash)(const void *);
  int (*equal)(const void *, const void *);
  const void **keys;
  long *values;
  long mask;
} table;

typedef struct {
  uint32_t x, y;
} place;

static uint64_t hash_place(const void *key) {
  const place *at = key;
  return (at->x * 0x9e3779b97f4a7c15u) ^ ((at->y * 0xc2b2ae3d27d4eb4fu) >> 7);
}

static int equal_places(const void *a, const void *b) {
  const place *x = a, *y = b;
  return x->x == y->x && x->y == y->y;
}

#ifdef HAND
#define HASH(table, key) hash_place(key)
#define EQUAL(table, a, b) equal_places(a, b)
#else
#define HASH(table, key) (table)->hash(key)
#define EQUAL(table, a, b) (table)->equal(a, b)
#endif

/* Counts how often each of the keys comes, over and over. */
NOINLINE long count(table *table, const place *keys, long n, long rounds) {
  long found = 0;
  for (long round = 0; round < rounds; round++)
    for (long i = 0; i < n; i++) {
      uint64_t hash = HASH(table, keys + i);
      long slot = (long)(hash ^ hash >> 32) & table->mask;
      while (table->keys[slot] && !EQUAL(table, table->keys[slot], keys + i))
        slot = (slot + 1) & table->mask;
      if (!table->keys[slot])
        table->keys[slot] = keys + i;
      found += table->values[slot]++ > 0;
    }
  return found;
}

int main(int argc, char **argv) {
  long n = 4096, rounds = argument(argc, argv, 1, 50000), size = 4096;
  place *keys = malloc(n * sizeof *keys);
  uint64_t state = 7;
  for (long i = 0; i < n; i++) {
    uint64_t random = next_random(&state);
    keys[i] = (place){random % 64, random / 64 % 48};
  }
  table table = {hash_place, equal_places, calloc(size, sizeof(void *)), calloc(size, sizeof(long)),
                 size - 1};
  HIDDEN(keys);
  long found = 0;
  TWICE(found += count(&table, keys, n, rounds));
  uint64_t sum = 0;
  for (long slot = 0; slot < size; slot++)
    sum = sum * 31 + table.values[slot];
  printf("%ld %llx\n", found, (unsigned long long)sum);
  return 0;
}
