/* An instrumented library with an instrumented destructor. */
#include "emitted.h"

FUNCTION(run, 100, 4, 10, 0);
FUNCTION(unload, 101, 1, 2, COUNTING);

void run(void)
{
    ENTER(run);
    for (int i = 0; i < 7; i++)
        PATH(run, i);
}

__attribute__((destructor)) static void unload(void)
{
    ENTER(unload);
    COUNT(unload, 1);
}
