/* Spectral norm of an infinite matrix, by the power method on its first n rows and columns. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double element(int i, int j) {
    return 1.0 / ((i + j) * (i + j + 1) / 2 + i + 1);
}

static void multiply(int n, const double *in, double *out, int transposed) {
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++)
            sum += (transposed ? element(j, i) : element(i, j)) * in[j];
        out[i] = sum;
    }
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 100;
    double *u = malloc(sizeof *u * (size_t)n), *v = malloc(sizeof *v * (size_t)n);
    double *t = malloc(sizeof *t * (size_t)n);
    if (n < 1 || !u || !v || !t) {
        fprintf(stderr, "spectral-norm: cannot make vectors of %d elements\n", n);
        return 1;
    }
    for (int i = 0; i < n; i++)
        u[i] = 1;
    for (int round = 0; round < 10; round++) {
        multiply(n, u, t, 0);
        multiply(n, t, v, 1);
        multiply(n, v, t, 0);
        multiply(n, t, u, 1);
    }
    double uv = 0, vv = 0;
    for (int i = 0; i < n; i++) {
        uv += u[i] * v[i];
        vv += v[i] * v[i];
    }
    printf("%.9f\n", sqrt(uv / vv));
    free(u);
    free(v);
    free(t);
    return 0;
}
