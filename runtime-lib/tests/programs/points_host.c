/* Loads and unloads a library with points, several times. */
#include "points.h"
#include <dlfcn.h>
#include <stdio.h>

#ifndef PLAIN
static const struct info host_infos[] = {{1, "host#0", "host", "host.osr", 0, 5, FUZZ, 0}};
POINTS(host, "points_host.c", 1, 1, host_infos);
#endif

int main(int argc, char **argv)
{
    for (int i = 0; i < 5 && argc > 1; i++) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        int (*run)(void) = (int (*)(void))dlsym(library, "run");
        printf("%d ", run());
#ifndef PLAIN
        FUZZED(host, 0);
#endif
        if (i < 4)
            dlclose(library);
    }
#ifndef PLAIN
    printf("%llu\n", midflight_osr_count("*"));
#endif
    return 0;
}
