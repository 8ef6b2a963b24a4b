/* What cct-profile-gen emits, by hand. */
#ifndef CONTEXTS_H
#define CONTEXTS_H

#include "emitted.h"

enum { CONTEXTS = 16, OWN_FRAME = 64 };

struct context {
    uint64_t count;
    const struct record *record;
    struct context **back, *parent;
    uint64_t frame;
    struct context *next;
    uint16_t site, slots;
    uint32_t code;
    uint64_t error;
    struct context *children[];
};

struct word {
    struct context **slot;
};

extern __thread struct word midflight_context_word __attribute__((tls_model("initial-exec")));
extern struct context *midflight_context_enter(uint64_t, const struct record *);

#define APART __attribute__((noinline)) static

#define CONTEXT(name, key, sites)                                                                  \
    static const struct record name##_record                                                       \
        __attribute__((section("midflight_tables"), used, aligned(8))) = {                         \
            sizeof(struct record), RECORD_VERSION, CONTEXTS | OWN_FRAME, key, 0, 0, sites}

static inline __attribute__((always_inline)) struct context *
begin_context(const struct record *record, uint64_t frame)
{
    struct context *context = *midflight_context_word.slot;
    if (context->record != record || context->parent->frame <= frame)
        context = midflight_context_enter(frame, record);
    add_one(&context->count);
    context->frame = frame;
    __asm__ volatile("" ::: "memory");
    return context;
}

/* Begins an activation: the address of its return address is above that of its caller's frame. */
#define BEGIN(name)                                                                                \
    struct context *context =                                                                      \
        begin_context(&name##_record, (uint64_t)__builtin_frame_address(0) + 8)

#define CALL(number, call)                                                                         \
    (midflight_context_word.slot = &context->children[number], (call));                            \
    __asm__ volatile("" ::: "memory")

#define END() (midflight_context_word.slot = context->back)

#endif
