/* A function with many paths, and one with a loop that always goes one way, in turn. With the
 * argument 0 the noisy one has no rounds. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 1000, NOISY_ROUNDS = 2000, PLAIN_ROUNDS = 1000 };

/* What is done on a side of a branch, so that no optimizer makes the branch a choice of values. */
#define SIDE(register_, statement)                                                                 \
    do {                                                                                           \
        statement;                                                                                 \
        __asm__ volatile("" : "+r"(register_));                                                    \
    } while (0)

static uint64_t state = 88172645463325252;

static uint64_t draw(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Six branches, each of which goes either way at random. */
__attribute__((noinline)) static uint32_t noisy(uint32_t sum, int rounds) {
    for (int round = 0; round < rounds; round++) {
        uint64_t random = draw() >> 20;
        if (random & 1)
            SIDE(sum, sum += 3);
        if (random & 2)
            SIDE(sum, sum ^= 5);
        if (random & 4)
            SIDE(sum, sum += 7);
        if (random & 8)
            SIDE(sum, sum ^= 11);
        if (random & 16)
            SIDE(sum, sum += 13);
        if (random & 32)
            SIDE(sum, sum ^= 17);
    }
    return sum;
}

/* A branch that could go either way, and does not. */
__attribute__((noinline)) static uint32_t plain(uint32_t sum, const volatile uint32_t *way) {
    for (int round = 0; round < PLAIN_ROUNDS; round++) {
        if (*way)
            SIDE(sum, sum += 3);
        else
            SIDE(sum, sum ^= 5);
    }
    return sum;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : NOISY_ROUNDS;
    volatile uint32_t way = 1;
    uint32_t sum = 0;
    for (int call = 0; call < CALLS; call++) {
        sum = noisy(sum, rounds);
        sum = plain(sum, &way);
    }
    printf("%u\n", sum);
    return 0;
}
