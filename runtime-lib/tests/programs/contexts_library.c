/* A library whose calling contexts are profiled. */
#include "contexts.h"

CONTEXT(inner, 21, 0);
CONTEXT(run, 20, 2);

APART void inner(void)
{
    BEGIN(inner);
    END();
}

void run(void)
{
    BEGIN(run);
    for (int i = 0; i < 5; i++) {
        CALL(0, inner());
        CALL(1, inner());
    }
    END();
}
