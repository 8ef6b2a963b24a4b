/* Loads and unloads an instrumented library, several times. */
#include "emitted.h"
#include <dlfcn.h>
#include <stdio.h>

FUNCTION(host, 1, 4, 10, 0);

int main(int argc, char **argv)
{
    ENTER(host);
    for (int i = 0; i < 5 && argc > 1; i++) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        void (*run)(void) = (void (*)(void))dlsym(library, "run");
        run();
        PATH(host, 1);
        if (i < 4)
            dlclose(library);
    }
    return 0;
}
