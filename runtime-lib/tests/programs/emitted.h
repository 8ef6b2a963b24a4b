/* What path-profile-gen emits, by hand. */
#ifndef EMITTED_H
#define EMITTED_H

#include <stddef.h>
#include <stdint.h>

struct record {
    uint32_t size;
    uint16_t version, flags;
    uint64_t key, cfg_hash;
    uint32_t k, num_paths;
};

struct slot {
    uint64_t next, tally;
};

struct forest {
    uint64_t start, entries, restarts, lost;
    uint64_t (*step)(uint64_t, uint32_t, struct forest *);
};

/* With ALL_PUBLISHED, functions in automaton mode have Algorithm 4 as published in its place. */
struct cursor {
    uint64_t n;
    void *tau, *beta;
};

enum { COUNTING = 2, PUBLISHED = 4, DENSE_PATHS = 4, DENSE_STATES = 256 };

extern struct forest *midflight_enter(const struct record *, struct forest **);
extern void midflight_published_step(struct cursor *, uint32_t, struct forest *);

extern void midflight_before_end(void);

#ifndef RECORD_VERSION
#define RECORD_VERSION 8
#endif

#ifdef ALL_PUBLISHED
#define FLAGS(flags) ((flags) & COUNTING ? (flags) : (flags) | PUBLISHED)
#else
#define FLAGS(flags) (flags)
#endif

#define FUNCTION(name, key, k, paths, flags)                                                       \
    static const struct record name##_record                                                       \
        __attribute__((section("midflight_tables"), used, aligned(8))) = {                         \
            sizeof(struct record), RECORD_VERSION, FLAGS(flags), key, 0, k, paths};                                    \
    static __thread struct forest *name##_slot

/* ThreadSanitizer does not see what assembly does. */
#if defined __has_feature
#if __has_feature(thread_sanitizer)
#define WATCHED 1
#endif
#endif
#if defined __x86_64__ && !defined WATCHED
#define IN_ASSEMBLY 1
#else
#define IN_ASSEMBLY 0
#endif

static inline __attribute__((always_inline)) void add_one(uint64_t *counter)
{
#if IN_ASSEMBLY
    __asm__ volatile("addq $1, %0" : "+m"(*counter));
#else
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
#endif
}

__attribute__((unused)) static inline __attribute__((always_inline)) struct forest *
enter(const struct record *record, struct forest **slot)
{
    struct forest *forest = *(struct forest *volatile *)slot;
    if (!forest)
        forest = midflight_enter(record, slot);
    add_one(&forest->entries);
    return forest;
}

__attribute__((unused)) static inline __attribute__((always_inline)) int
is_dense(uint32_t paths, uint32_t k)
{
    uint64_t states = 1;
    for (uint32_t i = 1; i < k && states <= DENSE_STATES; i++)
        states *= paths;
    return paths <= DENSE_PATHS && states <= DENSE_STATES;
}

/* The step, inlined. */
__attribute__((unused)) static inline __attribute__((always_inline)) uint64_t
step(uint64_t state, uint32_t id, const struct record *record, struct forest *forest)
{
    if (is_dense(record->num_paths, record->k)) {
        uint32_t offset = id * sizeof(struct slot);
        struct slot *slot = (struct slot *)(state - sizeof(uint64_t) + offset);
        uint64_t next = __atomic_load_n(&slot->next, __ATOMIC_RELAXED);
        if (!next)
            return forest->step(state, offset, forest);
        add_one(&slot->tally);
        return next;
    }
    uint32_t key = (id + 1) * 2 * 0x9e3779b1u;
    struct slot *slot = (struct slot *)((state >> 16) + ((key >> 16) & state));
    if (__atomic_load_n((uint32_t *)&slot->tally + 1, __ATOMIC_ACQUIRE) != key)
        return forest->step(state, key, forest);
    add_one(&slot->tally);
    return __atomic_load_n(&slot->next, __ATOMIC_RELAXED);
}

#ifdef PLAIN /* not instrumented */
#undef FUNCTION
#define FUNCTION(name, key, k, paths, flags) struct forest
#define ENTER(name) int name##_state = 0
#define PATH(name, id) ((void)name##_state)
#define COUNT(name, id) ((void)name##_state)
#elif defined ALL_PUBLISHED
#define ENTER(name)                                                                                \
    struct forest *name##_forest = enter(&name##_record, &name##_slot);                            \
    struct cursor name##_cursor = {0, NULL, NULL};                                                 \
    (void)name##_cursor
#define PATH(name, id) midflight_published_step(&name##_cursor, (id), name##_forest)
#define COUNT(name, id) add_one((uint64_t *)(name##_forest + 1) + (id))
#else
/* Begins an activation: the state is in `name_state`. */
#define ENTER(name)                                                                                \
    struct forest *name##_forest = enter(&name##_record, &name##_slot);                            \
    uint64_t name##_state = name##_forest->start;                                                  \
    (void)name##_state
#define PATH(name, id)                                                                             \
    (name##_state = step(name##_state, (id), &name##_record, name##_forest))
/* In counting mode. */
#define COUNT(name, id) add_one((uint64_t *)(name##_forest + 1) + (id))
#endif

#endif
