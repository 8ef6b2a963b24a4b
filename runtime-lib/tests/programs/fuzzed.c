/* Two functions with fuzzed points, one of which also has a continuation. Prints how often each
 * site fired. */
#include "points.h"
#include <stdio.h>
#include <stdlib.h>

#ifdef PATHS /* cyclic paths are counted too */
#include "emitted.h"
FUNCTION(main, 1, 4, 10, 0);
#else
#define ENTER(name)
#define PATH(name, id)
#endif

static const struct info work_infos[] = {
    {11, "work#0", "work", "work.osr", 0, 5, FUZZ, 0},
    {12, "work#1", "work", "work.osr", 1, 6, FUZZ, 0},
    {13, "\"odd\\\n\001\303\251", "work", "work.osr", 2, 0, FUZZ, 0},
    {14, "work#1", "work.osr", "work", 1, 6, FUZZ, 0},
};
POINTS(work, "dir/fuzzed.c", 3, 4, work_infos);

static const struct info other_infos[] = {{21, "other#0", "other", "other.osr", 0, 9, FUZZ, 0},
                                          {22, "flag", "other", "other.osr", 1, 10, FLAG, 0}};
POINTS(other, "dir/fuzzed.c", 2, 2, other_infos);

int main(int argc, char **argv)
{
    unsigned long fired[6] = {0};
    int rounds = argc > 1 ? atoi(argv[1]) : 10;
    ENTER(main);
    for (int i = 0; i < rounds; i++) {
        PATH(main, i % 10);
        fired[0] += FUZZED(work, 0);
        fired[1] += FUZZED(work, 1);
        fired[3] += FUZZED(work, 3);
        fired[4] += FUZZED(other, 0);
        fired[5] += FLAGGED(other, 1);
    }
    for (int i = 0; i < 6; i++)
        printf("%lu ", fired[i]);
    printf("%llu\n", midflight_osr_count("*"));
    return 7;
}
