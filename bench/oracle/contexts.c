/* The other side of the option `oracle` of cct-profile-gen: keeps the calling contexts of a run, and
 * writes them to the file that MIDFLIGHT_ORACLE names. It shares nothing with the profiler but the
 * record, from which it reads the function's key.
 *
 * Each thread has a stack of activations. At each entry those are taken off it that the unwinder does
 * not find: an activation is there if a frame of its function is at its address. Who called in tail
 * position has given its frame to its callee, and is there as long as that is. In a chain of such
 * calls each function stands once.
 *
 * When the program ends, all contexts are written as text, in preorder, a line each: depth, key in
 * hex, slot of the call in the function above, count. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

void midflight_oracle_enter(const void *record, uint64_t frame, const void *function);
void midflight_oracle_call(uint64_t frame, uint32_t slot, uint32_t is_tail);
void midflight_oracle_exit(uint64_t frame);

struct context {
    uint64_t key, count;
    uint32_t slot;
    struct context *parent, *child, *next;
};

struct activation {
    const void *record, *function;
    uint64_t frame;
    uint32_t slot, is_tail;
    struct context *context;
};

struct thread {
    struct activation *stack;
    size_t used, size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct context root;
static _Thread_local struct thread self;
static _Thread_local int is_inside;

static void give_up(const char *what) {
    perror(what);
    abort();
}

static uint64_t key_of(const void *record) {
    uint64_t key;
    memcpy(&key, (const char *)record + 8, sizeof key);
    return key;
}

/* The contexts of all threads are one tree. */
static struct context *child_of(struct context *parent, uint64_t key, uint32_t slot) {
    for (struct context *at = parent->child; at; at = at->next)
        if (at->key == key && at->slot == slot)
            return at;
    struct context *new = calloc(1, sizeof *new);
    if (!new)
        give_up("oracle: cannot allocate a context");
    new->key = key, new->slot = slot, new->parent = parent, new->next = parent->child;
    return parent->child = new;
}

/* --- what the unwinder says ------------------------------------------------------------------- */

struct search {
    /* the activation whose frame is looked for */
    size_t at;
    const void *function_below;
    uint64_t own_frame;
    int is_below;
};

/* On x86-64 the unwinder tells of each frame where the one that it has called has its return address; else
 * where its own is, above the frame pointer. */
static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *data) {
    struct search *search = data;
    const void *function = (const void *)_Unwind_GetRegionStart(context);
#ifdef __x86_64__
    uint64_t frame = _Unwind_GetCFA(context) - 8;
    const void *below = search->function_below;
    search->function_below = function;
#else
    uint64_t frame = _Unwind_GetGR(context, 29) + 8;
    const void *below = function;
#endif
    if (frame == search->own_frame) {
        search->is_below = 1;
        return _URC_NO_REASON;
    }
    if (!search->is_below)
        return _URC_NO_REASON;
    for (size_t i = self.used; i-- > 0;) {
        struct activation *a = &self.stack[i];
        if (a->frame == frame && a->function == below) {
            search->at = i + 1;
            return _URC_NORMAL_STOP;
        }
    }
    return _URC_NO_REASON;
}

/* Takes off the stack what is not there any more, seen from a new activation. */
static void take_off(uint64_t frame) {
    size_t calls = self.used;
    /* The new one may stand in the place of one that has called in tail position. */
    if (calls && self.stack[calls - 1].is_tail && self.stack[calls - 1].frame == frame)
        return;
    struct search search = {0, NULL, frame, 0};
    if (calls)
        _Unwind_Backtrace(visit, &search);
    self.used = search.at;
}

/* --- what the program tells ------------------------------------------------------------------- */

void midflight_oracle_enter(const void *record, uint64_t frame, const void *function) {
    if (is_inside)
        return;
    is_inside = 1;
    take_off(frame);
    uint64_t key = key_of(record);
    pthread_mutex_lock(&lock);
    struct context *context = NULL;
    /* In a chain of calls in tail position each function stands once. */
    for (size_t i = self.used; i-- > 0 && self.stack[i].is_tail && self.stack[i].frame == frame;)
        if (self.stack[i].record == record) {
            self.used = i;
            context = self.stack[i].context;
        }
    if (!context) {
        struct activation *last = self.used ? &self.stack[self.used - 1] : NULL;
        context = child_of(last ? last->context : &root, key, last ? last->slot : 0);
    }
    context->count++;
    pthread_mutex_unlock(&lock);
    if (self.used == self.size) {
        self.size = self.size ? 2 * self.size : 64;
        self.stack = realloc(self.stack, self.size * sizeof *self.stack);
        if (!self.stack)
            give_up("oracle: cannot allocate a stack");
    }
    self.stack[self.used++] = (struct activation){record, function, frame, 0, 0, context};
    is_inside = 0;
}

static struct activation *find(uint64_t frame) {
    for (size_t i = self.used; i-- > 0;)
        if (self.stack[i].frame == frame && !self.stack[i].is_tail) {
            self.used = i + 1;
            return &self.stack[i];
        }
    return NULL;
}

void midflight_oracle_call(uint64_t frame, uint32_t slot, uint32_t is_tail) {
    struct activation *a = is_inside ? NULL : find(frame);
    if (a)
        a->slot = slot, a->is_tail = is_tail;
}

void midflight_oracle_exit(uint64_t frame) {
    if (is_inside || !find(frame))
        return;
    self.used--;
    while (self.used && self.stack[self.used - 1].is_tail && self.stack[self.used - 1].frame == frame)
        self.used--;
}

static void __attribute__((destructor)) write_contexts(void) {
    const char *name = getenv("MIDFLIGHT_ORACLE");
    FILE *output = name ? fopen(name, "w") : NULL;
    if (name && !output)
        give_up("oracle: cannot open the file of MIDFLIGHT_ORACLE");
    if (!output)
        return;
    pthread_mutex_lock(&lock);
    struct context *at = root.child;
    for (int depth = 0; at;) {
        if (at->count || at->child)
            fprintf(output, "%d %016llx %u %llu\n", depth, (unsigned long long)at->key, at->slot,
                    (unsigned long long)at->count);
        if (at->child) {
            at = at->child, depth++;
            continue;
        }
        while (at && !at->next)
            at = at->parent == &root ? NULL : at->parent, depth--;
        if (at)
            at = at->next;
    }
    pthread_mutex_unlock(&lock);
    if (fclose(output))
        give_up("oracle: cannot write the contexts");
}
