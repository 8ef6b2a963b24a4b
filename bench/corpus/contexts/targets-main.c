/* Calls run(CALLS, TARGETS): CALLS TARGETS, and with -DLOAD the library that has it. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef LOAD
long run(long calls, long targets);
#endif

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
#ifdef LOAD
    void *library = argc > 3 ? dlopen(argv[3], RTLD_NOW) : 0;
    long (*run)(long, long) = library ? (long (*)(long, long))dlsym(library, "run") : 0;
    if (!run) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
#endif
    printf("%ld\n", run(atol(argv[1]), atol(argv[2])));
    return 0;
}
