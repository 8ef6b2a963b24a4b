/* Counts a little, goes to another directory if it is told to, and ends with status 3. */
#include "emitted.h"
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

FUNCTION(plain, 77, 4, 10, 0);

int main(int argc, char **argv)
{
    ENTER(plain);
    for (int i = 0; i < 10; i++)
        PATH(plain, i);
    if (argc > 1 && argv[1][0] == '/' && chdir(argv[1]))
        return 1;
    if (argc > 1 && argv[1][0] == 'l') {
        struct rlimit small = {70, 70};
        setrlimit(RLIMIT_FSIZE, &small);
    }
    return 3;
}
