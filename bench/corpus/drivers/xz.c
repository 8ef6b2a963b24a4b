/* Compresses a file by LZMA2 at two presets and decodes it again. */
#include "common.h"
#include "lzma.h"
#include <string.h>

int main(int argc, char **argv) {
    static const unsigned presets[] = {0, 6};
    if (argc < 2)
        return 2;
    size_t size;
    char *text = read_file(argv[1], &size);
    size_t bound = lzma_stream_buffer_bound(size);
    uint8_t *packed = malloc(bound), *again = malloc(size + 1);
    if (!packed || !again)
        fail("cannot allocate", argv[1]);
    for (int i = 0; i < 2; i++) {
        size_t length = 0, from = 0, back = 0;
        uint64_t memory = UINT64_MAX;
        if (lzma_easy_buffer_encode(presets[i], LZMA_CHECK_CRC64, NULL, (const uint8_t *)text, size,
                                    packed, &length, bound) != LZMA_OK)
            fail("cannot compress", argv[1]);
        if (lzma_stream_buffer_decode(&memory, 0, NULL, packed, &from, length, again, &back,
                                      size) != LZMA_OK ||
            back != size || memcmp(text, again, size) != 0)
            fail("it does not come back", argv[1]);
        printf("preset %u: %lu bytes, %08x\n", presets[i], (unsigned long)length,
               checksum(packed, length));
    }
    free(text);
    free(packed);
    free(again);
    return 0;
}
