/* Compresses a file at three levels and inflates it again. */
#include "common.h"
#include "zlib.h"
#include <string.h>

int main(int argc, char **argv) {
    static const int levels[] = {1, 6, 9};
    if (argc < 2)
        return 2;
    size_t size;
    char *text = read_file(argv[1], &size);
    uLong bound = compressBound((uLong)size);
    Bytef *packed = malloc(bound);
    Bytef *again = malloc(size + 1);
    if (!packed || !again)
        fail("cannot allocate", argv[1]);
    for (int i = 0; i < 3; i++) {
        uLongf length = bound, back = (uLongf)size;
        if (compress2(packed, &length, (const Bytef *)text, (uLong)size, levels[i]) != Z_OK)
            fail("cannot compress", argv[1]);
        if (uncompress(again, &back, packed, length) != Z_OK || back != size ||
            memcmp(text, again, size) != 0)
            fail("it does not come back", argv[1]);
        printf("level %d: %lu bytes, %08x, crc %08lx\n", levels[i], (unsigned long)length,
               checksum(packed, length), crc32(0, again, (uInt)back));
    }
    free(text);
    free(packed);
    free(again);
    return 0;
}
