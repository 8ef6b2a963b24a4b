/* Counts a little, makes the directory that it is told its root, takes the user ID that it is told, forks
 * a child that counts as much if it is told to, and ends with status 3. Has an OSR point, so that there is
 * a log. */
#include "emitted.h"
#include "points.h"
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

FUNCTION(jailed, 77, 4, 10, 0);

static const struct info infos[] = {{11, "main#0", "main", "main.osr", 0, 5, FUZZ, 0}};
POINTS(main, "jailed.c", 1, 1, infos);

int main(int argc, char **argv)
{
    ENTER(jailed);
    for (int i = 0; i < 10; i++)
        PATH(jailed, i);
    int status = 0, fired = FUZZED(main, 0);
    if (argc > 1 && (chroot(argv[1]) || chdir("/")))
        return 1;
    if (argc > 2 && setuid((uid_t)atoi(argv[2])))
        return 1;
    pid_t child = argc > 3 ? fork() : -1;
    if (!child)
        for (int i = 0; i < 10; i++)
            PATH(jailed, i);
    if (child > 0 && (wait(&status) != child || WEXITSTATUS(status) != 3))
        return 1;
    return fired ? 2 : 3;
}
