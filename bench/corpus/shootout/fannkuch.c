/* Fannkuch: over all permutations of n numbers, the largest number of prefix reversals until the
 * first is 1. Short loops whose trip counts depend on the data. */
#include <stdio.h>
#include <stdlib.h>

enum { MAX = 16 };

static int flips(const int *permutation, int n) {
    int work[MAX], count = 0;
    for (int i = 0; i < n; i++)
        work[i] = permutation[i];
    while (work[0] != 0) {
        for (int low = 0, high = work[0]; low < high; low++, high--) {
            int swap = work[low];
            work[low] = work[high];
            work[high] = swap;
        }
        count++;
    }
    return count;
}

/* The next permutation: rotate ever longer prefixes until a counter has something left. */
static int advance(int *permutation, int *left, int n) {
    for (int r = 1; r < n; r++) {
        int first = permutation[0];
        for (int i = 0; i < r; i++)
            permutation[i] = permutation[i + 1];
        permutation[r] = first;
        if (--left[r] > 0)
            return 1;
        left[r] = r + 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 7;
    if (n < 2 || n > MAX) {
        fprintf(stderr, "fannkuch: %d is not from 2 to %d\n", n, MAX);
        return 1;
    }
    int permutation[MAX], left[MAX], most = 0, sum = 0, sign = 1;
    for (int i = 0; i < n; i++) {
        permutation[i] = i;
        left[i] = i + 1;
    }
    do {
        int count = flips(permutation, n);
        if (count > most)
            most = count;
        sum += sign * count;
        sign = -sign;
    } while (advance(permutation, left, n));
    printf("checksum %d, most flips %d of %d\n", sum, most, n);
    return 0;
}
