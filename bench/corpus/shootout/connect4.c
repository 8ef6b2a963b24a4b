/* Connect four on a board of 7 columns and 6 rows: alpha-beta search with a transposition table,
 * in the place of the fhourstones benchmark. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS = 7, ROWS = 6, STRIDE = ROWS + 1, WIN = 1000, TABLE = 1 << 16 };

struct position {
    uint64_t mine, all; /* bit column * STRIDE + row */
};

struct entry {
    uint64_t mine, all;
    int depth, alpha, beta, score;
};

static struct entry table[TABLE];
static unsigned long visited, found;

static int wins(uint64_t stones) {
    static const int directions[] = {1, STRIDE - 1, STRIDE, STRIDE + 1};
    for (int i = 0; i < 4; i++) {
        uint64_t pairs = stones & stones >> directions[i];
        if (pairs & pairs >> 2 * directions[i])
            return 1;
    }
    return 0;
}

static int can_play(const struct position *p, int column) {
    return !(p->all >> (column * STRIDE + ROWS - 1) & 1);
}

/* The position after a stone in a column, seen by the other player. */
static struct position play(const struct position *p, int column) {
    uint64_t bottom = UINT64_C(1) << (column * STRIDE);
    struct position next = {p->all ^ p->mine, p->all | (p->all + bottom)};
    return next;
}

static int stones_in_middle(uint64_t stones) {
    int count = 0;
    for (uint64_t rest = stones >> (3 * STRIDE) & 0x3f; rest; rest &= rest - 1)
        count++;
    return count;
}

static struct entry *slot(const struct position *p) {
    uint64_t hash = (p->mine * UINT64_C(0x9E3779B97F4A7C15)) ^ (p->all * UINT64_C(0xC2B2AE3D27D4EB4F));
    return &table[hash >> 48];
}

static int search(const struct position *p, int depth, int alpha, int beta) {
    static const int order[COLUMNS] = {3, 2, 4, 1, 5, 0, 6};
    visited++;
    if (wins(p->all ^ p->mine))
        return -WIN - depth;
    if (depth == 0)
        return stones_in_middle(p->mine) - stones_in_middle(p->all ^ p->mine);
    struct entry *entry = slot(p);
    if (entry->mine == p->mine && entry->all == p->all && entry->depth == depth &&
        entry->alpha == alpha && entry->beta == beta) {
        found++;
        return entry->score;
    }
    int best = -10 * WIN, low = alpha;
    for (int i = 0; i < COLUMNS; i++) {
        if (!can_play(p, order[i]))
            continue;
        struct position next = play(p, order[i]);
        int score = -search(&next, depth - 1, -beta, -low);
        if (score > best)
            best = score;
        if (best > low)
            low = best;
        if (low >= beta)
            break;
    }
    if (best == -10 * WIN)
        best = 0; /* the board is full */
    struct entry fresh = {p->mine, p->all, depth, alpha, beta, best};
    *entry = fresh;
    return best;
}

int main(int argc, char **argv) {
    static const char *const openings[] = {"", "3", "33", "444", "0123", "33333", "621"};
    int depth = argc > 1 ? atoi(argv[1]) : 6;
    for (size_t i = 0; i < sizeof openings / sizeof *openings; i++) {
        struct position p = {0, 0};
        for (const char *move = openings[i]; *move; move++)
            p = play(&p, *move - '0');
        printf("'%s': %d\n", openings[i], search(&p, depth, -10 * WIN, 10 * WIN));
    }
    printf("visited %lu, found again %lu\n", visited, found);
    return 0;
}
