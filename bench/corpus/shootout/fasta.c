/* Fasta: pseudo-random sequences by cumulated probabilities, found by linear search. */
#include <stdio.h>
#include <stdlib.h>

struct letter {
    char symbol;
    double probability;
};

static unsigned seed = 42;

static double uniform(void) {
    seed = (seed * 3877 + 29573) % 139968;
    return seed / 139968.0;
}

static char draw(const struct letter *letters, int count) {
    double rest = uniform();
    for (int i = 0; i < count - 1; i++) {
        if (rest < letters[i].probability)
            return letters[i].symbol;
        rest -= letters[i].probability;
    }
    return letters[count - 1].symbol;
}

static void sequence(const char *title, const struct letter *letters, int count, long length) {
    printf(">%s\n", title);
    for (long i = 0; i < length; i++) {
        putchar(draw(letters, count));
        if (i % 60 == 59 || i == length - 1)
            putchar('\n');
    }
}

static void repeated(const char *title, const char *unit, long length) {
    printf(">%s\n", title);
    const char *next = unit;
    for (long i = 0; i < length; i++) {
        if (!*next)
            next = unit;
        putchar(*next++);
        if (i % 60 == 59 || i == length - 1)
            putchar('\n');
    }
}

int main(int argc, char **argv) {
    static const struct letter four[] = {{'a', 0.31}, {'c', 0.19}, {'g', 0.2}, {'t', 0.3}};
    static const struct letter many[] = {{'a', 0.27}, {'c', 0.12}, {'g', 0.12}, {'t', 0.27},
                                         {'B', 0.02}, {'D', 0.02}, {'H', 0.02}, {'K', 0.02},
                                         {'M', 0.02}, {'N', 0.02}, {'R', 0.02}, {'S', 0.02},
                                         {'V', 0.02}, {'W', 0.02}, {'Y', 0.02}};
    long n = argc > 1 ? atol(argv[1]) : 1000;
    repeated("ONE repeated", "GGCCGGGCGCGGTGGCTCACGCCTGTAATCCCAGCACTTTGG", 2 * n);
    sequence("TWO ambiguous", many, sizeof many / sizeof *many, 3 * n);
    sequence("THREE plain", four, sizeof four / sizeof *four, 5 * n);
    return 0;
}
