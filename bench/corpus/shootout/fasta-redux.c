/* Fasta-redux: as fasta, but letters come from a lookup table of the cumulated probabilities. */
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 4096, LINE = 60 };

struct slot {
    double upto;
    char symbol;
};

static struct slot lookup[SLOTS];
static unsigned seed = 42;

static double uniform(void) {
    seed = (seed * 3877 + 29573) % 139968;
    return seed / 139968.0 * SLOTS;
}

/* Slot i holds the first letter whose cumulated probability is above i. */
static void fill(const char *symbols, const double *probabilities, int count) {
    int letter = 0;
    double sum = probabilities[0] * SLOTS;
    for (int i = 0; i < SLOTS; i++) {
        while (letter < count - 1 && sum < i)
            sum += probabilities[++letter] * SLOTS;
        lookup[i].upto = letter == count - 1 ? SLOTS : sum;
        lookup[i].symbol = symbols[letter];
    }
}

static char draw(void) {
    double point = uniform();
    struct slot *slot = &lookup[(int)point];
    while (slot->upto < point && slot < &lookup[SLOTS - 1])
        slot++;
    return slot->symbol;
}

static void sequence(const char *title, long length) {
    char line[LINE + 1];
    printf(">%s\n", title);
    while (length > 0) {
        int part = length < LINE ? (int)length : LINE;
        for (int i = 0; i < part; i++)
            line[i] = draw();
        line[part] = 0;
        puts(line);
        length -= part;
    }
}

int main(int argc, char **argv) {
    static const double many[] = {0.27, 0.12, 0.12, 0.27, 0.02, 0.02, 0.02, 0.02,
                                  0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02};
    static const double four[] = {0.31, 0.19, 0.2, 0.3};
    long n = argc > 1 ? atol(argv[1]) : 1000;
    fill("acgtBDHKMNRSVWY", many, sizeof many / sizeof *many);
    sequence("TWO ambiguous", 3 * n);
    fill("acgt", four, sizeof four / sizeof *four);
    sequence("THREE plain", 5 * n);
    return 0;
}
