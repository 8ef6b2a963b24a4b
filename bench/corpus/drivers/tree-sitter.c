/* Parses a C file and prints a digest of its syntax tree. */
#include "common.h"
#include "tree_sitter/api.h"
#include <string.h>

const TSLanguage *tree_sitter_c(void);

int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    size_t size;
    char *text = read_file(argv[1], &size);
    TSParser *parser = ts_parser_new();
    if (!ts_parser_set_language(parser, tree_sitter_c()))
        fail("the parser does not know the grammar's version", argv[1]);
    TSTree *tree = ts_parser_parse_string(parser, NULL, text, (uint32_t)size);
    TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
    unsigned long nodes = 0, named = 0;
    unsigned hash = 0;
    for (int more = 1; more;) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        nodes++;
        named += ts_node_is_named(node);
        hash = hash * 31 + checksum(ts_node_type(node), strlen(ts_node_type(node)));
        hash = hash * 31 + ts_node_start_byte(node);
        more = ts_tree_cursor_goto_first_child(&cursor);
        while (!more && !(more = ts_tree_cursor_goto_next_sibling(&cursor)))
            if (!ts_tree_cursor_goto_parent(&cursor))
                break;
    }
    printf("%lu nodes, %lu named, hash %08x\n", nodes, named, hash);
    ts_tree_cursor_delete(&cursor);
    ts_tree_delete(tree);
    ts_parser_delete(parser);
    free(text);
    return 0;
}
