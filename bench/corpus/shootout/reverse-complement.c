/* Reverse-complement: makes a sequence, then prints it backwards with each letter's complement. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static char complement[256];

static void fill(void) {
    static const char *const pairs = "ATCGGCTAUAMKRYWWSSYRKMVBHDDHBVNN";
    for (int i = 0; i < 256; i++)
        complement[i] = (char)i;
    for (const char *pair = pairs; *pair; pair += 2) {
        complement[(unsigned char)pair[0]] = pair[1];
        complement[tolower((unsigned char)pair[0])] = pair[1];
    }
}

/* Letters of one sequence, with a line break after every 60. */
static void make(char *text, long length, unsigned seed) {
    static const char letters[] = "ACGTacgtMRWSYKVHDBN";
    for (long i = 0; i < length; i++) {
        seed = seed * 1103515245u + 12345u;
        text[i] = i % 61 == 60 ? '\n' : letters[(seed >> 16) % (sizeof letters - 1)];
    }
}

/* Reverses in place; line breaks stay where they are. */
static void reverse(char *text, long length) {
    char *low = text, *high = text + length - 1;
    while (low <= high) {
        if (*low == '\n') {
            low++;
        } else if (*high == '\n') {
            high--;
        } else {
            char first = complement[(unsigned char)*low];
            *low++ = complement[(unsigned char)*high];
            *high-- = first;
        }
    }
}

int main(int argc, char **argv) {
    long length = argc > 1 ? atol(argv[1]) : 10000;
    char *text = malloc((size_t)length + 1);
    if (!text || length < 1) {
        fprintf(stderr, "reverse-complement: cannot make a sequence of %ld letters\n", length);
        return 1;
    }
    fill();
    unsigned long hash = 5381;
    for (unsigned round = 1; round <= 5; round++) {
        make(text, length, round);
        reverse(text, length);
        for (long i = 0; i < length; i++)
            hash = hash * 33 + (unsigned char)text[i];
        printf(">%u %.60s\n", round, text);
    }
    printf("hash %lx\n", hash);
    free(text);
    return 0;
}
