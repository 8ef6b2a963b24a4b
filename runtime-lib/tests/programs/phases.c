/* Profiles a phase on its own, by the functions of midflight.h. */
#include "emitted.h"
#include "midflight.h"

FUNCTION(phase, 1, 4, 10, 0);

int main(int argc, char **argv)
{
    ENTER(phase);
    for (int i = 0; i < 5; i++)
        PATH(phase, 1);
    midflight_profile_reset();
    for (int i = 0; i < 3; i++)
        PATH(phase, 2);
    if (argc > 1 && midflight_profile_write(argv[1]))
        return 1;
    if (argc > 2 && !midflight_profile_write(argv[2]))
        return 2;
    PATH(phase, 3);
    return 0;
}
