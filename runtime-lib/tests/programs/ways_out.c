/* exit from nested activations, with instrumented code in a handler of atexit and in a destructor;
 * before that, a longjmp over activations. */
#include "emitted.h"
#include <setjmp.h>
#include <stdlib.h>

FUNCTION(nested, 1, 4, 10, 0);
FUNCTION(handler, 2, 4, 10, 0);
FUNCTION(destructor, 3, 4, 10, 0);
FUNCTION(constructor, 4, 4, 10, 0);
FUNCTION(jumper, 5, 4, 10, 0);

static jmp_buf back;

static void jumper(int depth)
{
    ENTER(jumper);
    PATH(jumper, 1);
    if (depth == 0)
        longjmp(back, 1);
    jumper(depth - 1);
    PATH(jumper, 2);
}

static void nested(int depth)
{
    ENTER(nested);
    PATH(nested, 1);
    if (depth == 0)
        exit(42);
    nested(depth - 1);
    PATH(nested, 2);
}

static void at_exit(void)
{
    ENTER(handler);
    PATH(handler, 3);
}

__attribute__((destructor)) static void at_end(void)
{
    ENTER(destructor);
    PATH(destructor, 4);
}

__attribute__((constructor)) static void at_start(void)
{
    ENTER(constructor);
    PATH(constructor, 5);
}

int main(void)
{
    atexit(at_exit);
    for (volatile int i = 0; i < 10; i++)
        if (!setjmp(back))
            jumper(4);
    nested(9);
    return 0;
}
