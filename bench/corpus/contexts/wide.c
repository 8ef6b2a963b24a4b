/* A tree of calls with as many contexts as are asked for: wide DEPTH PREFIX WAYS MOST.
 *
 * Each activation of `node` has five call sites, each of which leads a level down. In each round
 * the whole tree below one of the 5^PREFIX nodes of a level is walked, and then WAYS ways from the
 * root to a leaf, the first of them MOST times, the n-th MOST / n times.
 * bench/src/contexts/bound.rs has the same arithmetic. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SITES = 5, LONGEST = 32, ALL = 255 };

/* The way leads to a site of each level; from where it ends on, to all of them. */
__attribute__((noinline)) long node(int depth, const unsigned char *way) {
    long sum = 1;
    if (depth == 0)
        return sum;
    unsigned sites = *way == ALL ? (1u << SITES) - 1 : 1u << *way;
    const unsigned char *next = *way == ALL ? way : way + 1;
    if (sites & 1)
        sum += node(depth - 1, next);
    if (sites & 2)
        sum += node(depth - 1, next);
    if (sites & 4)
        sum += node(depth - 1, next);
    if (sites & 8)
        sum += node(depth - 1, next);
    if (sites & 16)
        sum += node(depth - 1, next);
    /* The last call is none in tail position. */
    __asm__ volatile("" : "+r"(sum));
    return sum;
}

static void way_of(uint32_t number, int length, unsigned char *way) {
    uint32_t state = number * 2654435761u + 12345;
    for (int level = 0; level < length; level++) {
        state = state * 1103515245u + 12345;
        way[level] = (state >> 16) % SITES;
    }
    way[length] = ALL;
}

int main(int argc, char **argv) {
    if (argc < 5)
        return 2;
    int depth = atoi(argv[1]), prefix = atoi(argv[2]);
    long ways = atol(argv[3]), most = atol(argv[4]);
    if (depth < prefix || depth >= LONGEST || prefix < 0 || most < 0)
        return 2;
    long rounds = 1, sum = 0;
    for (int level = 0; level < prefix; level++)
        rounds *= SITES;
    for (long round = 0; round < rounds; round++) {
        /* One call site for all: the first walk of a round is that of a whole tree. */
        for (long number = 0; number <= ways; number++) {
            unsigned char way[LONGEST];
            long rest = round, times = 1;
            if (number == 0) {
                for (int level = 0; level < prefix; level++, rest /= SITES)
                    way[level] = rest % SITES;
                way[prefix] = ALL;
            } else {
                way_of(number, depth, way);
                times = most / number;
            }
            for (long time = 0; time < times; time++)
                sum += node(depth, way);
        }
    }
    printf("%ld\n", sum);
    return 0;
}
