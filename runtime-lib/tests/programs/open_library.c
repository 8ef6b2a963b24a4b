/* A library with an open point, and a function whose address is a key. */
#include "open.h"
#include <unistd.h>

OPEN(shared, KEY_VALUE);

long callee(long live) { return live + 1; }
BODY(callee);

struct site *site(void) { return &shared_site; }

void fire_once(void) { FIRE(shared, 2); }

/* Fires until there is a version. */
long run(void)
{
    version *found;
    for (int i = 0; !(found = FIRE(shared, 2)); i++) {
        if (i == 5000)
            return -1;
        usleep(1000);
    }
    return found(5);
}

__attribute__((destructor)) static void end(void) { FIRE(shared, 9); }
