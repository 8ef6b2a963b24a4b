/* Has its profile written several times, the last time by its end. */
#include "emitted.h"
#include "midflight.h"

FUNCTION(round, 5, 4, 10, 0);

static void ten_rounds(void)
{
    for (int i = 0; i < 10; i++) {
        ENTER(round);
        for (int path = 0; path < 10; path++)
            PATH(round, path);
    }
}

int main(void)
{
    for (int i = 0; i < 3; i++) {
        if (midflight_profile_write(0))
            return 1;
        ten_rounds();
    }
    return midflight_profile_write(0) || midflight_profile_write(0);
}
