/* Activations of one function inside each other, each with a stream of its own. */
#include "emitted.h"

FUNCTION(visit, 1, 3, 10, 0);
FUNCTION(count, 2, 1, 4, COUNTING);

static void visit(int depth)
{
    ENTER(visit);
    ENTER(count);
    PATH(visit, 1);
    PATH(visit, 2);
    if (depth > 1) {
        visit(depth - 1);
        PATH(visit, 3);
        visit(depth - 2);
    }
    PATH(visit, 4);
    PATH(visit, 5);
    COUNT(count, 3);
}

int main(void)
{
    visit(12);
    return 0;
}
