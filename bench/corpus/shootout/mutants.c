// For mutants of `osr-opt`: each of them has something to do wrong here, under the passes that it is
// made for. The argument is how often all is repeated.
#include <stdio.h>
#include <stdlib.h>

static unsigned seen;

__attribute__((noinline)) static void use(unsigned value) { seen = seen * 31 + value; }

// Base has no use for `first` behind the call, the optimized version has (`early-cse`).
__attribute__((noinline)) static unsigned again(unsigned *place, unsigned other) {
    unsigned first = *place, next = first + 1;
    *place = other;
    use(next);
    unsigned same = next - 1;
    use(same);
    return same * 3;
}

// The optimized version keeps the place in a register while the loop runs (`licm`).
__attribute__((noinline)) static unsigned promoted(unsigned *place, unsigned n) {
    unsigned total = 0, i = 0;
    do {
        *place = *place * 3 + i;
        if (*place & 1)
            total += *place;
        i++;
    } while (i < n);
    return total;
}

// Of four copies of the body (`loop-unroll`) only the last one asks whether the loop is at its end.
__attribute__((noinline)) static unsigned unrolled(unsigned sum) {
#pragma clang loop unroll_count(4)
    for (unsigned i = 0; i < 100; i++) {
        sum += i ^ (sum >> 3);
        use(sum);
    }
    return sum;
}

// Base has a phi of products, the optimized version one of factors (`simplifycfg<sink-common-insts>`).
__attribute__((noinline)) static unsigned common(unsigned c, unsigned a, unsigned b) {
    unsigned either;
    if (c & 1) {
        use(1);
        either = a * 3;
    } else {
        seen += 2;
        either = b * 3;
    }
    return either;
}

int main(int argc, char **argv) {
    unsigned place = 8, total = 0;
    int times = argc > 1 ? atoi(argv[1]) : 1;
    for (int n = 0; n < times; n++) {
        total = total * 5 + again(&place, (unsigned)n + 5);
        total += promoted(&place, (unsigned)n % 30);
        total += unrolled(total);
        total += common((unsigned)n, total, place);
    }
    printf("%u %u %u\n", total, place, seen);
    return 0;
}
