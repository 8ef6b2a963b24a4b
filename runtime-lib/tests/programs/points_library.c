/* A library with points of three kinds, one of them in its destructor. */
#include "points.h"
#include <errno.h>

static const struct info run_infos[] = {
    {11, "run#0", "run", "run.osr", 0, 9, FUZZ, 0},
    {0x1212121212121212, "patch", "run", "run.osr", 1, 10, PATCH, 0},
    {13, "end", "run", "run.osr", 2, 11, FUZZ, 0},
};
POINTS(run, "points_library.c", 3, 3, run_infos);

int run(void)
{
    int fired = 0;
    for (int i = 0; i < 3; i++)
        fired += FUZZED(run, 0);
    PATCHED(0x1212121212121212, patched);
    return fired;
patched:
    TRANSITION(run, 1);
    return fired + 100;
}

__attribute__((destructor)) static void end(void)
{
    (void)FUZZED(run, 2);
}
