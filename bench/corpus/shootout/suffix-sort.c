/* Sorts all suffixes of a text, by Bentley's and Sedgewick's multikey quicksort: three ways by one
 * character at a time, and few suffixes by insertion. The text is made of words that come again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 600, LONGEST = 12, FEW = 10 };

static unsigned char *text;
static int length;
static uint32_t state = 1;

static uint32_t draw(uint32_t below) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
}

/* Words of letters, of which early ones are more frequent, and now and then a piece of what stands
 * before. */
static void write_text(void) {
    static unsigned char words[WORDS][LONGEST];
    static int lengths[WORDS];
    for (int i = 0; i < WORDS; i++) {
        lengths[i] = 2 + draw(LONGEST - 2);
        for (int j = 0; j < lengths[i]; j++)
            words[i][j] = "etaoinshrdlucmfwypvbgkjqxz"[draw(1 + draw(26))];
    }
    int at = 0;
    while (at < length) {
        if (at > 1000 && draw(200) == 0) {
            int from = draw(at - 100);
            for (int end = 20 + draw(80); end > 0 && at < length; end--)
                text[at++] = text[from++];
            continue;
        }
        int word = draw(1 + draw(WORDS));
        for (int j = 0; j < lengths[word] && at < length; j++)
            text[at++] = words[word][j];
        if (at < length)
            text[at++] = draw(12) == 0 ? '\n' : ' ';
    }
    text[length] = 0;
}

static int is_less(int a, int b, int depth) {
    const unsigned char *p = text + a + depth, *q = text + b + depth;
    while (*p == *q && *p != 0)
        p++, q++;
    return *p < *q;
}

static void insert(int *suffixes, int number, int depth) {
    for (int i = 1; i < number; i++) {
        int suffix = suffixes[i], j = i;
        for (; j > 0 && is_less(suffix, suffixes[j - 1], depth); j--)
            suffixes[j] = suffixes[j - 1];
        suffixes[j] = suffix;
    }
}

static int character(int suffix, int depth) {
    return text[suffix + depth];
}

static int middle(int a, int b, int c) {
    if (a < b)
        return b < c ? b : a < c ? c : a;
    return a < c ? a : b < c ? c : b;
}

static void swap(int *a, int *b) {
    int old = *a;
    *a = *b;
    *b = old;
}

/* Sorts suffixes that are the same in so many characters. */
static void sort(int *suffixes, int number, int depth) {
    while (number > FEW) {
        int pivot = middle(character(suffixes[0], depth), character(suffixes[number / 2], depth),
                           character(suffixes[number - 1], depth));
        int less = 0, at = 0, more = number;
        while (at < more) {
            int c = character(suffixes[at], depth);
            if (c < pivot)
                swap(&suffixes[less++], &suffixes[at++]);
            else if (c > pivot)
                swap(&suffixes[at], &suffixes[--more]);
            else
                at++;
        }
        sort(suffixes, less, depth);
        if (pivot != 0)
            sort(suffixes + less, more - less, depth + 1);
        suffixes += more;
        number -= more;
    }
    insert(suffixes, number, depth);
}

int main(int argc, char **argv) {
    length = argc > 1 ? atoi(argv[1]) : 1000;
    if (length < 2) {
        fprintf(stderr, "suffix-sort: there is nothing to sort\n");
        return 1;
    }
    text = malloc(length + 1);
    int *suffixes = malloc(length * sizeof *suffixes);
    write_text();
    for (int i = 0; i < length; i++)
        suffixes[i] = i;
    sort(suffixes, length, 0);
    uint32_t sum = 0;
    int wrong = 0;
    for (int i = 0; i < length; i++) {
        sum = sum * 31 + suffixes[i];
        wrong += i > 0 && !is_less(suffixes[i - 1], suffixes[i], 0);
    }
    printf("%d suffixes, %d in the wrong place, checksum %08x\n", length, wrong, sum);
    free(suffixes);
    free(text);
    return wrong != 0;
}
