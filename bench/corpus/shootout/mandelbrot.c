/* Mandelbrot: an image of the set as a portable bitmap, one bit a point. */
#include <stdio.h>
#include <stdlib.h>

static int inside(double cr, double ci) {
    double zr = 0, zi = 0;
    for (int i = 0; i < 50; i++) {
        double rr = zr * zr, ii = zi * zi;
        if (rr + ii > 4.0)
            return 0;
        zi = 2 * zr * zi + ci;
        zr = rr - ii + cr;
    }
    return 1;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 100;
    printf("P4\n%d %d\n", n, n);
    for (int y = 0; y < n; y++) {
        int byte = 0, bits = 0;
        for (int x = 0; x < n; x++) {
            byte = byte << 1 | inside(2.0 * x / n - 1.5, 2.0 * y / n - 1.0);
            if (++bits == 8 || x == n - 1) {
                putchar(byte << (8 - bits));
                byte = bits = 0;
            }
        }
    }
    return 0;
}
