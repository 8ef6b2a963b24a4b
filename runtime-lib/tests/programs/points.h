/* What osr-point and osr-fuzz emit, by hand. */
#ifndef POINTS_H
#define POINTS_H

#include "midflight.h"
#include <stdbool.h>
#include <stdint.h>

enum condition { ALWAYS, NEVER, COUNT, EVERY, FLAG, PATCH, FUZZ };

struct info {
    uint64_t id;
    const char *name, *from, *to;
    uint32_t point, line, condition, number;
};

struct state {
    uint32_t armed, left;
    uint64_t hits, transitions;
};

struct function {
    uint32_t size;
    uint16_t version, reserved;
    uint32_t points, sites;
    const char *name, *file;
    const struct info *infos;
};

extern bool midflight_osr_hit(struct function *, uint32_t);
extern int64_t midflight_osr_fuel;

#ifndef OSR_VERSION
#define OSR_VERSION 1
#endif

/* A function's record with its sites. */
#define POINTS(name, file, points, sites, infos)                                                   \
    static struct {                                                                                \
        struct function head;                                                                      \
        struct state states[sites];                                                                \
    } name##_osr __attribute__((section("midflight_osr"), used, aligned(8))) = {                   \
        {sizeof name##_osr, OSR_VERSION, 0, points, sites, #name, file, infos}, {{0, 0, 0, 0}}}

#define LOAD(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)
#define STORE(place, value) __atomic_store_n(&(place), value, __ATOMIC_RELAXED)

/* Whether a site of a function fires. The fuel may go past 0: another thread may store what it has
 * computed from an old value, after the runtime has given new fuel. */
#define FUZZED(name, site)                                                                         \
    ({                                                                                             \
        int64_t fuel_ = LOAD(midflight_osr_fuel) - 1;                                              \
        uint32_t point_ = name##_osr.head.infos[site].point;                                       \
        STORE(midflight_osr_fuel, fuel_);                                                          \
        (fuel_ <= 0 || LOAD(name##_osr.states[point_].armed)) &&                                   \
            midflight_osr_hit(&name##_osr.head, site);                                             \
    })
#define FLAGGED(name, site)                                                                        \
    (LOAD(name##_osr.states[site].armed) &&                                                        \
     (__atomic_fetch_add(&name##_osr.states[site].transitions, 1, __ATOMIC_RELAXED), true))

/* Goes on at `label` when the site with this id is armed. */
#ifdef __x86_64__
#define PATCHABLE_NOP ".p2align 3,,4\n.Lnop%=: .byte 0x0f,0x1f,0x44,0,0\n"
#else
#define PATCHABLE_NOP ".p2align 2\n.Lnop%=: nop\n"
#endif
#define PATCHED(id, label)                                                                         \
    __asm__ goto(PATCHABLE_NOP                                                                     \
                 ".pushsection midflight_osr_patch,\"ao\",@progbits,.Lnop%=\n"                        \
                 ".balign 8\n"                                                                     \
                 ".long .Lnop%=-.\n"                                                                  \
                 ".long %l[" #label "]-.\n"                                                        \
                 ".quad " #id "\n"                                                                 \
                 ".popsection"                                                                     \
                 :                                                                                 \
                 :                                                                                 \
                 :                                                                                 \
                 : label)
#define TRANSITION(name, site)                                                                     \
    __atomic_fetch_add(&name##_osr.states[site].transitions, 1, __ATOMIC_RELAXED)

#endif
