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

struct node {
    void *slots;
    uint32_t mask, used;
    struct node *tau;
    void *forest;
    uint32_t level, reserved;
};

struct forest {
    struct node start;
    uint64_t entries, restarts, lost;
};

enum { COUNTING = 2 };

extern struct forest *midflight_enter(const struct record *, struct forest **);
extern struct node *midflight_step(struct node *, uint32_t);

#define FUNCTION(name, key, k, paths, flags)                                                       \
    static const struct record name##_record                                                       \
        __attribute__((section("midflight_tables"), used, aligned(8))) = {                         \
            sizeof(struct record), 1, flags, key, 0, k, paths};                                    \
    static __thread struct forest *name##_slot

static inline __attribute__((always_inline)) void add_one(uint64_t *counter)
{
#ifdef __x86_64__
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

#ifdef PLAIN /* not instrumented */
#undef FUNCTION
#define FUNCTION(name, key, k, paths, flags) struct forest
#define ENTER(name) int name##_state = 0
#define PATH(name, id) ((void)name##_state)
#define COUNT(name, id) ((void)name##_state)
#else
/* Begins an activation: the state is in `name_state`. */
#define ENTER(name) struct node *name##_state = &enter(&name##_record, &name##_slot)->start
#define PATH(name, id) (name##_state = midflight_step(name##_state, (id)))
/* In counting mode. */
#define COUNT(name, id) add_one((uint64_t *)name##_state->slots + (id))
#endif

#endif
