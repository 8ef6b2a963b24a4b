/* Binary trees: builds and walks many complete trees. Allocation and deep recursion. */
#include <stdio.h>
#include <stdlib.h>

struct node {
    struct node *left, *right;
};

static struct node *build(int depth) {
    struct node *node = malloc(sizeof *node);
    if (!node) {
        perror("binary-trees: cannot allocate a node");
        exit(1);
    }
    node->left = depth > 0 ? build(depth - 1) : NULL;
    node->right = depth > 0 ? build(depth - 1) : NULL;
    return node;
}

static long count(const struct node *node) {
    return node ? 1 + count(node->left) + count(node->right) : 0;
}

static void destroy(struct node *node) {
    if (!node)
        return;
    destroy(node->left);
    destroy(node->right);
    free(node);
}

int main(int argc, char **argv) {
    int max = argc > 1 ? atoi(argv[1]) : 10;
    struct node *kept = build(max);
    for (int depth = 4; depth <= max; depth += 2) {
        long trees = 1L << (max - depth + 4), nodes = 0;
        for (long i = 0; i < trees; i++) {
            struct node *tree = build(depth);
            nodes += count(tree);
            destroy(tree);
        }
        printf("%ld trees of depth %d: %ld nodes\n", trees, depth, nodes);
    }
    printf("kept tree of depth %d: %ld nodes\n", max, count(kept));
    destroy(kept);
    return 0;
}
