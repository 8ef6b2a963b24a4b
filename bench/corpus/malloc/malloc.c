/* A small allocator in the place of libc's, to be compiled by a profiler: all of a program's calls of it
 * pass through instrumented code, those from within libc, the loader and ending threads included.
 *
 * Small objects have one of CLASSES sizes. A class carves them from spans of 64 KiB, which are cut from
 * arenas that are mapped a few megabytes at a time. Each thread keeps a list of free objects for each
 * class; what it has too many of goes to the class's shared list, under a lock. Larger objects are mapped
 * for themselves. The head of a span or a large object lies at the multiple of 64 KiB before it; an object
 * at such a multiple has its head 64 KiB before.
 *
 * Each function counts its calls. Where MALLOC_COUNTS names a file, the counts are written there when
 * the program ends, as lines of a name and a number.
 *
 * -fno-builtin: else the compiler makes calloc of what is malloc and memset in calloc itself. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    SPAN = 64 << 10,
    ARENA = 4 << 20,
    HEAD = 64,
    LARGEST = 8 << 10,
    CLASSES = 32,
    KEPT = 64, /* free objects of a class that a thread keeps */
};

struct head {
    size_t size;   /* of an object */
    size_t mapped; /* of a large object's mapping; 0 for a span */
    void *mapping;
    unsigned class;
};

struct object {
    struct object *next;
};

struct shared {
    atomic_flag lock;
    struct object *free;
    char *next, *end; /* what of the newest span was never given out */
};

struct cache {
    struct object *free[CLASSES];
    unsigned number[CLASSES];
    int is_registered;
};

enum { MALLOC, CALLOC, REALLOC, FREE, ALIGNED_ALLOC, MEMALIGN, POSIX_MEMALIGN, USABLE_SIZE, FUNCTIONS };

static const char *const names[FUNCTIONS] = {
    "malloc",        "calloc",   "realloc",        "free",
    "aligned_alloc", "memalign", "posix_memalign", "malloc_usable_size",
};
static atomic_ullong calls[FUNCTIONS];

static struct shared classes[CLASSES];
static atomic_flag arena_lock = ATOMIC_FLAG_INIT;
static char *arena, *arena_end;
static pthread_key_t key;
static int has_key;
static __thread struct cache cache __attribute__((tls_model("initial-exec")));

static void count(int function)
{
    atomic_fetch_add_explicit(&calls[function], 1, memory_order_relaxed);
}

static void lock(atomic_flag *flag)
{
    while (atomic_flag_test_and_set_explicit(flag, memory_order_acquire))
        sched_yield();
}

static void unlock(atomic_flag *flag)
{
    atomic_flag_clear_explicit(flag, memory_order_release);
}

/* Sizes: 16 to 128 by 16, then four to each doubling, up to 8 KiB. */
static unsigned class_of(size_t size)
{
    if (size <= 128)
        return size ? (unsigned)((size - 1) / 16) : 0;
    unsigned log = 63 - (unsigned)__builtin_clzll(size - 1);
    return 8 + (log - 7) * 4 + (unsigned)((size - 1) >> (log - 2) & 3);
}

static size_t size_of(unsigned class)
{
    if (class < 8)
        return (class + 1) * 16;
    unsigned log = 7 + (class - 8) / 4;
    return ((size_t)1 << log) + (((class - 8) % 4 + 1) << (log - 2));
}

static struct head *head_of(void *memory)
{
    uintptr_t address = (uintptr_t)memory;
    return (struct head *)(address % SPAN ? address & ~(uintptr_t)(SPAN - 1) : address - SPAN);
}

/* A multiple of `alignment`, which is at least SPAN, with `before` bytes before it and `size` behind. */
static char *map(size_t before, size_t size, size_t alignment, struct head *about)
{
    size_t whole = before + size + alignment;
    if (whole < size)
        return NULL;
    char *start = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    about->mapping = start;
    about->mapped = whole;
    uintptr_t first = (uintptr_t)start + before + alignment - 1;
    return (char *)(first & ~(uintptr_t)(alignment - 1));
}

static char *new_span(void)
{
    lock(&arena_lock);
    if (arena == arena_end) {
        struct head unused;
        arena = map(0, ARENA, SPAN, &unused);
        arena_end = arena ? arena + ARENA : NULL;
    }
    char *span = arena;
    if (span)
        arena += SPAN;
    unlock(&arena_lock);
    return span;
}

/* An object of a class, from its shared list or a span; its lock is held. */
static struct object *take(struct shared *shared, unsigned class)
{
    struct object *object = shared->free;
    if (object) {
        shared->free = object->next;
        return object;
    }
    size_t size = size_of(class);
    if ((size_t)(shared->end - shared->next) < size) {
        char *span = new_span();
        if (!span)
            return NULL;
        *(struct head *)span = (struct head){.size = size, .class = class};
        shared->next = span + HEAD;
        shared->end = span + SPAN;
    }
    object = (struct object *)shared->next;
    shared->next += size;
    return object;
}

/* Gives objects of a thread back, but for `kept` of them. */
static void give_back(struct cache *own, unsigned class, unsigned kept)
{
    struct shared *shared = &classes[class];
    lock(&shared->lock);
    while (own->number[class] > kept) {
        struct object *object = own->free[class];
        own->free[class] = object->next;
        own->number[class]--;
        object->next = shared->free;
        shared->free = object;
    }
    unlock(&shared->lock);
}

static void thread_ends(void *own)
{
    for (unsigned class = 0; class < CLASSES; class++)
        give_back(own, class, 0);
    ((struct cache *)own)->is_registered = 0;
}

static void register_thread(void)
{
    if (cache.is_registered || !has_key)
        return;
    cache.is_registered = 1; /* before what may allocate */
    pthread_setspecific(key, &cache);
}

static void *allocate_small(size_t size)
{
    unsigned class = class_of(size);
    register_thread();
    struct object *object = cache.free[class];
    if (object) {
        cache.free[class] = object->next;
        cache.number[class]--;
        return object;
    }
    struct shared *shared = &classes[class];
    lock(&shared->lock);
    object = take(shared, class);
    unlock(&shared->lock);
    return object;
}

static void *allocate_large(size_t size, size_t alignment)
{
    struct head about;
    char *place;
    if (alignment < SPAN) {
        size_t before = alignment > HEAD ? alignment : HEAD;
        if (size + before < size)
            return NULL;
        char *base = map(0, size + before, SPAN, &about);
        if (!base)
            return NULL;
        place = base + before;
    } else {
        place = map(SPAN, size, alignment, &about);
        if (!place)
            return NULL;
    }
    about.size = size;
    *head_of(place) = about;
    return place;
}

static void *allocate(size_t size, size_t alignment)
{
    void *memory;
    if (alignment <= 16 && size <= LARGEST)
        memory = allocate_small(size);
    else
        memory = allocate_large(size, alignment);
    if (!memory)
        errno = ENOMEM;
    return memory;
}

static void release(void *memory)
{
    struct head *head = head_of(memory);
    if (head->mapped) {
        int before = errno;
        munmap(head->mapping, head->mapped);
        errno = before;
        return;
    }
    unsigned class = head->class;
    struct object *object = memory;
    register_thread();
    object->next = cache.free[class];
    cache.free[class] = object;
    if (++cache.number[class] > KEPT)
        give_back(&cache, class, KEPT / 2);
}

void *malloc(size_t size)
{
    count(MALLOC);
    return allocate(size, 16);
}

void free(void *memory)
{
    count(FREE);
    if (memory)
        release(memory);
}

void *calloc(size_t number, size_t size)
{
    count(CALLOC);
    size_t whole;
    if (__builtin_mul_overflow(number, size, &whole)) {
        errno = ENOMEM;
        return NULL;
    }
    void *memory = allocate(whole, 16);
    if (memory)
        memset(memory, 0, whole);
    return memory;
}

void *realloc(void *old, size_t size)
{
    count(REALLOC);
    size_t before = old ? head_of(old)->size : 0;
    if (old && size <= before && size >= before / 2)
        return old;
    void *memory = allocate(size, 16);
    if (memory && old) {
        memcpy(memory, old, before < size ? before : size);
        release(old);
    }
    return memory;
}

static int is_power(size_t alignment)
{
    return alignment && !(alignment & (alignment - 1));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    count(ALIGNED_ALLOC);
    if (!is_power(alignment)) {
        errno = EINVAL;
        return NULL;
    }
    return allocate(size, alignment);
}

void *memalign(size_t alignment, size_t size)
{
    count(MEMALIGN);
    if (!is_power(alignment)) {
        errno = EINVAL;
        return NULL;
    }
    return allocate(size, alignment);
}

int posix_memalign(void **result, size_t alignment, size_t size)
{
    count(POSIX_MEMALIGN);
    if (!is_power(alignment) || alignment % sizeof(void *))
        return EINVAL;
    int before = errno;
    void *memory = allocate(size, alignment);
    errno = before;
    if (!memory)
        return ENOMEM;
    *result = memory;
    return 0;
}

size_t malloc_usable_size(void *memory)
{
    count(USABLE_SIZE);
    return memory ? head_of(memory)->size : 0;
}

static void before_fork(void)
{
    for (unsigned class = 0; class < CLASSES; class++)
        lock(&classes[class].lock);
    lock(&arena_lock);
}

static void after_fork(void)
{
    unlock(&arena_lock);
    for (unsigned class = 0; class < CLASSES; class++)
        unlock(&classes[class].lock);
}

__attribute__((constructor)) static void begin(void)
{
    has_key = !pthread_key_create(&key, thread_ends);
    pthread_atfork(before_fork, after_fork, after_fork);
}

static void put(int file, const char *text)
{
    if (write(file, text, strlen(text)) < 0)
        _exit(99);
}

__attribute__((destructor(101))) static void end(void)
{
    const char *name = getenv("MALLOC_COUNTS");
    if (!name)
        return;
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    for (int function = 0; function < FUNCTIONS; function++) {
        char digits[24], *digit = digits + sizeof digits;
        unsigned long long number = atomic_load(&calls[function]);
        *--digit = 0;
        *--digit = '\n';
        do
            *--digit = (char)('0' + number % 10);
        while (number /= 10);
        put(file, names[function]);
        put(file, " ");
        put(file, digit);
    }
    close(file);
}
