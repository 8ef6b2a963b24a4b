/* What the drivers share: reading a file whole, and a checksum of what came out. */
#ifndef CORPUS_COMMON_H
#define CORPUS_COMMON_H

#include <stdio.h>
#include <stdlib.h>

static inline void fail(const char *what, const char *name) {
    fprintf(stderr, "driver: %s: %s\n", name, what);
    exit(2);
}

/* A file's bytes, with a zero byte behind them. */
static inline char *read_file(const char *name, size_t *size) {
    FILE *file = fopen(name, "rb");
    if (!file)
        fail("cannot open the file", name);
    fseek(file, 0, SEEK_END);
    long end = ftell(file);
    rewind(file);
    char *bytes = malloc((size_t)end + 1);
    if (!bytes || fread(bytes, 1, (size_t)end, file) != (size_t)end)
        fail("cannot read the file", name);
    bytes[end] = 0;
    fclose(file);
    *size = (size_t)end;
    return bytes;
}

/* FNV-1a, 32 bits. */
static inline unsigned checksum(const void *bytes, size_t size) {
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 16777619u;
    return hash;
}

#endif
