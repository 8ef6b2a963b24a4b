/* A program that is a libc: its own functions are counted, and called by nobody but itself. */
#include "emitted.h"
#include <stddef.h>
#include <stdint.h>

FUNCTION(copy, 1, 4, 10, 0);
FUNCTION(move, 2, 4, 10, 0);
FUNCTION(set, 3, 4, 10, 0);
FUNCTION(compare, 4, 4, 10, 0);
FUNCTION(length, 5, 4, 10, 0);
FUNCTION(taken, 6, 4, 10, 0);
FUNCTION(many, 7, 4, 3000, 0);

__attribute__((no_builtin)) void *memcpy(void *to, const void *from, size_t size)
{
    ENTER(copy);
    PATH(copy, 1);
    for (size_t i = 0; i < size; i++)
        ((volatile char *)to)[i] = ((const volatile char *)from)[i];
    return to;
}

__attribute__((no_builtin)) void *memmove(void *to, const void *from, size_t size)
{
    ENTER(move);
    PATH(move, 1);
    for (size_t i = size; i; i--)
        ((volatile char *)to)[i - 1] = ((const volatile char *)from)[i - 1];
    return to;
}

__attribute__((no_builtin)) void *memset(void *to, int byte, size_t size)
{
    ENTER(set);
    PATH(set, 1);
    for (size_t i = 0; i < size; i++)
        ((volatile char *)to)[i] = (char)byte;
    return to;
}

static int compare(const void *left, const void *right, size_t size)
{
    ENTER(compare);
    PATH(compare, 1);
    const volatile unsigned char *a = left, *b = right;
    for (size_t i = 0; i < size; i++)
        if (a[i] != b[i])
            return a[i] - b[i];
    return 0;
}

__attribute__((no_builtin)) int memcmp(const void *left, const void *right, size_t size)
{
    return compare(left, right, size);
}

__attribute__((no_builtin)) int bcmp(const void *left, const void *right, size_t size)
{
    return compare(left, right, size);
}

__attribute__((no_builtin)) size_t strlen(const char *text)
{
    ENTER(length);
    PATH(length, 1);
    size_t size = 0;
    while (((const volatile char *)text)[size])
        size++;
    return size;
}

/* Names that ISO C leaves to the program, and others of libc's: whatever they do here, nobody calls them. */
#define TAKEN(name)                                                                                \
    long taken_##name(void) __asm__(#name);                                                        \
    long taken_##name(void)                                                                        \
    {                                                                                              \
        ENTER(taken);                                                                              \
        PATH(taken, 1);                                                                            \
        return -1;                                                                                 \
    }
TAKEN(open)
TAKEN(close)
TAKEN(read)
TAKEN(pread)
TAKEN(write)
TAKEN(pwrite)
TAKEN(writev)
TAKEN(stat)
TAKEN(fstat)
TAKEN(lstat)
TAKEN(rename)
TAKEN(link)
TAKEN(unlink)
TAKEN(mkdir)
TAKEN(readlink)
TAKEN(realpath)
TAKEN(flock)
TAKEN(getcwd)
TAKEN(gethostname)
TAKEN(getenv)
TAKEN(getrlimit)
TAKEN(getauxval)
TAKEN(sysconf)
TAKEN(clock_gettime)
TAKEN(syscall)
TAKEN(abort)
TAKEN(sigfillset)
TAKEN(sigaction)
TAKEN(sigaltstack)
TAKEN(signal)
TAKEN(sigset)
TAKEN(daemon)
TAKEN(mmap)
TAKEN(munmap)

int main(void)
{
    static char from[3000], to[3000];
    char *volatile target = to;
    ENTER(many);
    uint32_t random = 1;
    /* More than there is room for. */
    for (int i = 0; i < 60000; i++) {
        random = random * 1664525 + 1013904223;
        PATH(many, (random >> 16) % 3000);
    }
    for (int i = 0; i < 10; i++) {
        memset(target, i, 3000);
        memcpy(target, from, 3000);
        memmove(target, from, 3000);
        if (memcmp(target, from, 3000) || bcmp(target, from, 3000) || strlen(target))
            return 1;
    }
    return 0;
}
