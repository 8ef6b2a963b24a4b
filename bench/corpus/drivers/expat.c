/* Parses an XML file in pieces and prints a digest of its elements. */
#include "common.h"
#include "expat.h"
#include <string.h>

struct digest {
    unsigned long elements, attributes, text;
    unsigned depth, deepest, hash;
};

static void mix(struct digest *digest, const char *name) {
    digest->hash = digest->hash * 31 + checksum(name, strlen(name));
}

static void XMLCALL begin(void *data, const XML_Char *name, const XML_Char **attributes) {
    struct digest *digest = data;
    digest->elements++;
    if (++digest->depth > digest->deepest)
        digest->deepest = digest->depth;
    mix(digest, name);
    for (; attributes[0]; attributes += 2) {
        digest->attributes++;
        mix(digest, attributes[1]);
    }
}

static void XMLCALL end(void *data, const XML_Char *name) {
    struct digest *digest = data;
    (void)name;
    digest->depth--;
}

static void XMLCALL characters(void *data, const XML_Char *text, int length) {
    struct digest *digest = data;
    digest->text += (unsigned long)length;
    digest->hash = digest->hash * 31 + checksum(text, (size_t)length);
}

int main(int argc, char **argv) {
    enum { PIECE = 4096 };
    if (argc < 2)
        return 2;
    size_t size, at = 0;
    char *text = read_file(argv[1], &size);
    struct digest digest = {0, 0, 0, 0, 0, 0};
    XML_Parser parser = XML_ParserCreateNS(NULL, '|');
    XML_SetHashSalt(parser, 1); /* else it is random, and so are the ways through its tables */
    XML_SetUserData(parser, &digest);
    XML_SetElementHandler(parser, begin, end);
    XML_SetCharacterDataHandler(parser, characters);
    do {
        int piece = size - at < PIECE ? (int)(size - at) : PIECE;
        if (XML_Parse(parser, text + at, piece, at + (size_t)piece == size) != XML_STATUS_OK) {
            printf("line %lu: %s\n", (unsigned long)XML_GetCurrentLineNumber(parser),
                   XML_ErrorString(XML_GetErrorCode(parser)));
            return 1;
        }
        at += (size_t)piece;
    } while (at < size);
    printf("%lu elements, %lu attributes, %lu bytes of text, depth %u, hash %08x\n",
           digest.elements, digest.attributes, digest.text, digest.deepest, digest.hash);
    XML_ParserFree(parser);
    free(text);
    return 0;
}
