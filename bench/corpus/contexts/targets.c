/* Calls from one site, of 1, 4 or 64 functions in turn: run(CALLS, TARGETS). */
#define FUNCTION(n)                                                                                \
    __attribute__((noinline)) static long f##n(long x) { return x * 3 + n; }
#define FOUR(m, n) m(n##0) m(n##1) m(n##2) m(n##3)
#define ALL(m)                                                                                     \
    FOUR(m, 10) FOUR(m, 11) FOUR(m, 12) FOUR(m, 13) FOUR(m, 20) FOUR(m, 21) FOUR(m, 22)            \
    FOUR(m, 23) FOUR(m, 30) FOUR(m, 31) FOUR(m, 32) FOUR(m, 33) FOUR(m, 40) FOUR(m, 41)            \
    FOUR(m, 42) FOUR(m, 43)
#define NAME(n) f##n,

ALL(FUNCTION)

/* Whoever is linked might change it. */
long (*targets_of_run[64])(long) = {ALL(NAME)};

long run(long calls, long targets) {
    long sum = 0;
    for (long call = 0; call < calls; call++)
        sum = targets_of_run[call & (targets - 1)](sum);
    return sum;
}
