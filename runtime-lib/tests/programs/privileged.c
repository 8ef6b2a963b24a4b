/* Counts a little, asks for everything that the runtime does, prints the answers, and sends itself a signal
 * if it is told to. */
#include "emitted.h"
#include "points.h"
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

FUNCTION(privileged, 77, 4, 10, 0);

static const struct info infos[] = {
    {11, "fuzzed", "main", "main.osr", 0, 5, FUZZ, 0},
    {12, "flag", "main", "main.osr", 1, 6, FLAG, 0},
};
POINTS(main, "privileged.c", 2, 2, infos);

int main(int argc, char **argv)
{
    ENTER(privileged);
    for (int i = 0; i < 10; i++)
        PATH(privileged, i);
    int written = midflight_profile_write(0);
    int elsewhere = midflight_profile_write("elsewhere.mfp");
    int armed = midflight_osr_arm("*");
    printf("%d %d %d %d %d\n", written, elsewhere, armed, FUZZED(main, 0), FLAGGED(main, 1));
    fflush(stdout);
    if (argc > 1 && argv[1][0])
        raise(argv[1][0] == 't' ? SIGTERM : SIGUSR1);
    return 3;
}
