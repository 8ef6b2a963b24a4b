/* What open points emit, by hand, and what a generator is asked. */
#ifndef OPEN_H
#define OPEN_H

#include <stddef.h>
#include <stdint.h>

#ifndef OPEN_VERSION
#define OPEN_VERSION 2
#endif

enum { NO_KEY, KEY_VALUE, KEY_CALLEE };
enum { MADE, NOTHING, FAILED };

struct made {
    uint64_t key;
    const void *target, *next;
    uint64_t invalid;
};

struct assumption {
    int64_t *address;
    int64_t value;
};

struct code {
    const char *bytes;
    uint64_t length;
    const void *const *links;
    uint64_t num_links;
    const void **entry;
};

struct site {
    const struct made *cache;
    void *runtime;
    const struct code *code;
    const char *generator, *function, *point;
    uint16_t version, key_kind;
    uint32_t key, at, llvm, count, reserved;
    const char *file;
};

struct body {
    const void *function;
    const struct code *code;
};

struct request {
    uint32_t version, key_kind;
    struct site *site;
    uint64_t key;
    const struct made *made;
    struct code code, body;
    const char *generator, *function, *point;
    uint32_t key_number, at, count, is_generic;
    const void *open, *left, *guard;
    int (*read)(const struct made *, const int64_t *, int64_t *);
    const void *make, *user;
};

struct answer {
    uint32_t status, guards;
    const void *target, *next, *entry;
    const struct assumption *assumptions;
    uint64_t num_assumptions, size;
    char message[512];
};

extern const struct made *midflight_osr_open(struct site *, uint64_t);
extern void midflight_osr_left(struct site *, const struct made *);

/* What all versions assume. */
static int64_t assumed;
extern int midflight_invalidate(int64_t *, int64_t);

/* What a function of the type `long f(long)` with an open point has. */
#define OPEN(name, kind)                                                                           \
    static const void *name##_entry;                                                               \
    static const void *const name##_links[] = {&name##_entry, &assumed};                           \
    static const struct code name##_code = {"bitcode of " #name, sizeof "bitcode of " #name,       \
                                            name##_links, 2, &name##_entry};                       \
    static struct site name##_site __attribute__((section("midflight_open"), used,                 \
                                                  aligned(8))) = {                                 \
        NULL, NULL, &name##_code, "osr", #name, #name "#0", OPEN_VERSION, kind, 7, 8, 22, 9, 0, \
        __FILE__}

/* What a function has whose address may be a key. */
#define BODY(name)                                                                                 \
    static const struct code name##_body_code = {"bitcode of " #name, sizeof "bitcode of " #name,  \
                                                 NULL, 0, NULL};                                   \
    static const struct body name##_body __attribute__((section("midflight_open_body"), used,      \
                                                        aligned(8))) = {name, &name##_body_code}

#define CACHE(name) __atomic_load_n(&name##_site.cache, __ATOMIC_ACQUIRE)
#define ENTRY(name) __atomic_load_n(&name##_entry, __ATOMIC_ACQUIRE)
#define FIRE(name, key) fire(&name##_site, (uint64_t)(key))

typedef long version(long);

/* What there is of a key is for it, or for all: key * 1000 + 5, or this. */
enum { GENERIC = 9, OF_GENERIC = GENERIC * 1000 + 5 };

/* What the point goes on in, or NULL. */
__attribute__((unused)) static inline version *fire(struct site *site, uint64_t key)
{
    const struct made *made = __atomic_load_n(&site->cache, __ATOMIC_ACQUIRE);
    if (made && made->key == key && !__atomic_load_n(&made->invalid, __ATOMIC_RELAXED))
        return (version *)made->target;
    made = midflight_osr_open(site, key);
    return made ? (version *)made->target : NULL;
}

/* Leaves the version that fired last; one for all keys has no guards. */
__attribute__((unused)) static inline void leave(struct site *site)
{
    const struct made *made = __atomic_load_n(&site->cache, __ATOMIC_ACQUIRE);
    if (made && ((version *)made->target)(5) != OF_GENERIC)
        midflight_osr_left(site, made);
}

#endif
