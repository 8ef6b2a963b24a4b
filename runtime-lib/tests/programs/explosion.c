/* More states than there may be memory for. */
#include "emitted.h"
#include <stdlib.h>

FUNCTION(irregular, 1, 16, 50, 0);
FUNCTION(wide, 2, 1, 100000, COUNTING);

static void wide(void)
{
    ENTER(wide);
    COUNT(wide, 99999);
}

int main(int argc, char **argv)
{
    int events = argc > 1 ? atoi(argv[1]) : 0;
    uint32_t random = 1;
    ENTER(irregular);
    for (int i = 0; i < events; i++) {
        random = random * 1664525 + 1013904223;
        PATH(irregular, (random >> 16) % 50);
    }
    wide();
    return 7;
}
