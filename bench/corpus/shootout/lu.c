/* LU factorizations with partial pivoting of dense matrices with many sparse rows. Columns are in
 * groups of one to eight, and a row knows in which stretch of each group it has nonzero numbers:
 * the innermost loops are short, and the data say how short. A few matrices come again. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 160, WIDEST = 8, MATRICES = 4 };

struct stretch {
    int first, end; /* none if they are the same */
};

struct row {
    double values[N];
    struct stretch stretches[N];
};

static struct row rows[N], original[N];
static int groups, starts[N + 1], group_of[N];
static uint32_t state = 1;

static uint32_t draw(uint32_t below) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
}

static void group_columns(void) {
    groups = 0;
    for (int column = 0; column < N; groups++) {
        starts[groups] = column;
        for (int end = column + 1 + draw(WIDEST); column < end && column < N; column++)
            group_of[column] = groups;
    }
    starts[groups] = N;
}

/* A few short stretches of numbers in each row, and one on the diagonal; some rows are full. */
static void fill(void) {
    for (int i = 0; i < N; i++) {
        struct row *row = &rows[i];
        *row = (struct row){0};
        int is_full = draw(16) == 0;
        for (int n = 0; n < (is_full ? groups : 2); n++) {
            int group = is_full ? n : (int)draw(groups), width = starts[group + 1] - starts[group];
            int first = draw(width), end = first + 1 + draw(width - first);
            for (int j = first; j < end; j++)
                row->values[starts[group] + j] = (double)draw(2000) / 1000 - 1;
        }
        row->values[i] = 2 + (double)draw(1000) / 1000;
    }
}

static void find_stretches(struct row *row) {
    for (int group = 0; group < groups; group++) {
        int first = starts[group], end = starts[group + 1];
        while (first < end && row->values[first] == 0)
            first++;
        while (end > first && row->values[end - 1] == 0)
            end--;
        row->stretches[group] = (struct stretch){first, end};
    }
}

/* The row with the largest number in a column, from the diagonal down. */
static int find_pivot(int column) {
    int best = column;
    for (int i = column + 1; i < N; i++)
        if (fabs(rows[i].values[column]) > fabs(rows[best].values[column]))
            best = i;
    return best;
}

/* Subtracts a multiple of the pivot's row behind the column. What gets negligible becomes zero. */
static void eliminate(struct row *row, const struct row *pivot, int column) {
    double factor = row->values[column] / pivot->values[column];
    row->values[column] = factor;
    for (int group = group_of[column]; group < groups; group++) {
        struct stretch from = pivot->stretches[group], *to = &row->stretches[group];
        if (from.first <= column)
            from.first = column + 1;
        if (from.first >= from.end)
            continue;
        for (int j = from.first; j < from.end; j++)
            row->values[j] -= factor * pivot->values[j];
        if (to->first == to->end)
            *to = from;
        if (to->first > from.first)
            to->first = from.first;
        if (to->end < from.end)
            to->end = from.end;
        while (to->end > to->first && fabs(row->values[to->end - 1]) < 1e-9)
            row->values[--to->end] = 0;
    }
}

/* The sign of the permutation; 0 if the matrix is singular. */
static int factorize(void) {
    int sign = 1;
    for (int column = 0; column < N; column++) {
        int best = find_pivot(column);
        if (rows[best].values[column] == 0)
            return 0;
        if (best != column) {
            struct row swap = rows[best], other = original[best];
            rows[best] = rows[column];
            rows[column] = swap;
            original[best] = original[column];
            original[column] = other;
            sign = -sign;
        }
        for (int i = column + 1; i < N; i++)
            if (rows[i].values[column] != 0)
                eliminate(&rows[i], &rows[column], column);
    }
    return sign;
}

/* The largest difference between L times U and the matrix in some columns. */
static double residual(void) {
    double largest = 0;
    for (int i = 0; i < N; i++)
        for (int j = i % 31; j < N; j += 31) {
            double sum = i <= j ? rows[i].values[j] : 0;
            for (int n = 0; n < i && n <= j; n++)
                sum += rows[i].values[n] * rows[n].values[j];
            largest = fmax(largest, fabs(sum - original[i].values[j]));
        }
    return largest;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1, wrong = 0;
    double sum = 0;
    for (int round = 0; round < rounds; round++) {
        state = 1 + round % MATRICES;
        group_columns();
        fill();
        for (int i = 0; i < N; i++) {
            find_stretches(&rows[i]);
            original[i] = rows[i];
        }
        int sign = factorize();
        double logarithm = 0;
        for (int i = 0; i < N && sign != 0; i++)
            logarithm += log(fabs(rows[i].values[i]));
        sum += sign * logarithm;
        wrong += !(residual() < 1e-6);
    }
    printf("%d factorizations, %d wrong, sum of logarithms %.6f\n", rounds, wrong, sum);
    return wrong != 0;
}
