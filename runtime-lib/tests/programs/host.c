/* Loads and unloads an instrumented library, several times; with NAMESPACE in a namespace of its own,
 * with REGISTERS in a program that has no runtime but the shared library, with COUNTS_BEFORE in one
 * that has taken a path before. */
#define _GNU_SOURCE
#include "emitted.h"
#include <dlfcn.h>
#include <stdio.h>

FUNCTION(host, 1, 4, 10, 0);

#ifdef NAMESPACE
#define OPEN(path) dlmopen(LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL)
#else
#define OPEN(path) dlopen(path, RTLD_NOW | RTLD_LOCAL)
#endif

#ifdef REGISTERS
extern const unsigned char __start_midflight_tables[], __stop_midflight_tables[];
extern void midflight_register_image(const unsigned char *, const unsigned char *);

__attribute__((constructor)) static void register_image(void)
{
    midflight_register_image(__start_midflight_tables, __stop_midflight_tables);
}
#endif

int main(int argc, char **argv)
{
    ENTER(host);
#ifdef COUNTS_BEFORE
    PATH(host, 1);
#endif
    for (int i = 0; i < 5 && argc > 1; i++) {
        void *library = OPEN(argv[1]);
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
