/* Compresses a file at three levels and decompresses it again. */
#include "common.h"
#include "zstd.h"
#include <string.h>

int main(int argc, char **argv) {
    static const int levels[] = {1, 5, 12};
    if (argc < 2)
        return 2;
    size_t size;
    char *text = read_file(argv[1], &size);
    size_t bound = ZSTD_compressBound(size);
    char *packed = malloc(bound), *again = malloc(size + 1);
    if (!packed || !again)
        fail("cannot allocate", argv[1]);
    for (int i = 0; i < 3; i++) {
        size_t length = ZSTD_compress(packed, bound, text, size, levels[i]);
        if (ZSTD_isError(length))
            fail(ZSTD_getErrorName(length), argv[1]);
        size_t back = ZSTD_decompress(again, size, packed, length);
        if (ZSTD_isError(back) || back != size || memcmp(text, again, size) != 0)
            fail("it does not come back", argv[1]);
        printf("level %d: %lu bytes, %08x\n", levels[i], (unsigned long)length,
               checksum(packed, length));
    }
    free(text);
    free(packed);
    free(again);
    return 0;
}
