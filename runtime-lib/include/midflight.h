/* What an instrumented program can ask of the runtime that it is linked with.
 *
 * The functions are weak, so that the same source also links without the runtime:
 *
 *     if (midflight_profile_write)
 *         midflight_profile_write(NULL);
 */
#ifndef MIDFLIGHT_H
#define MIDFLIGHT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the profile as it is now, to `path` or, if that is NULL, to where MIDFLIGHT_PROFILE says.
 * The file is replaced as a whole. Counting goes on, and the profile that is written when the
 * program ends has these counts too. With %c in MIDFLIGHT_PROFILE that file always has all counts,
 * and nothing is done for it.
 *
 * Returns 0; or an error number, after one line on standard error; EPERM in a program that runs
 * with more rights than its user has. Nothing is written, and 0 returned, where nothing is
 * instrumented. Do not call it in a child made by vfork. */
int midflight_profile_write(const char *path) __attribute__((weak));

/* Sets all counters to zero, so that a phase of the program can be profiled on its own. Activations
 * that are under way go on from where they are. What other threads count at this moment may
 * survive. */
void midflight_profile_reset(void) __attribute__((weak));

/* Pauses the profile: what is counted from now on, in all threads, is not in it, until
 * midflight_profile_resume is called. Returns 0, also if it is paused already; ENOMEM if there is
 * no memory to remember the counts of now (nothing is changed then); EBUSY in a function that the
 * runtime has called itself. Costs about as much as to write the profile. */
int midflight_profile_pause(void) __attribute__((weak));

/* Goes on with a profile that was paused. Returns as midflight_profile_pause does. */
int midflight_profile_resume(void) __attribute__((weak));

/* On-stack replacement
 *
 * A point is named by its name, as in "main#3", or by its source file and its name, as in
 * "src/main.c:main#3". `*` stands for any characters, none included. A point may have several
 * sites, one in each version of its function. midflight_osr_arm, midflight_osr_disarm and
 * midflight_osr_count may be called from any thread and from signal handlers, while other threads
 * run the code. */

/* Arms the flag and patch points with that name: from now on they fire at each hit. Other threads
 * see it when this returns.
 *
 * Returns the number of sites; 0 if there is no such point; or a negative error number, after one
 * line on standard error: -EACCES or another one of mprotect if the code cannot be made writable,
 * and the patch points with that name are disarmed then; -ENOEXEC if the code is not what was
 * linked, -ENOTSUP if it is a patch point and not on x86-64, and nothing is changed then. Without a
 * line: -EINVAL if `point` is NULL, -EBUSY in a function that the runtime has called itself, -EPERM
 * in a program that runs with more rights than its user has. */
int midflight_osr_arm(const char *point) __attribute__((weak));

/* Disarms them. Returns as midflight_osr_arm does. */
int midflight_osr_disarm(const char *point) __attribute__((weak));

/* How often points with that name have fired so far, in all versions of their functions. Exact for
 * fuzzed points; of others some transitions may not be counted if several threads make them at a
 * time. */
unsigned long long midflight_osr_count(const char *point) __attribute__((weak));

/* The flag of the first flag point with that name: what is not 0 there arms the point, and code of
 * a virtual machine may set it itself, by a relaxed atomic store, without a call. It is valid until
 * the code is unloaded. NULL if there is no flag point with that name. */
uint32_t *midflight_osr_flag(const char *point) __attribute__((weak));

/* Points of code that a JIT makes
 *
 * The runtime finds the points of what a linker has linked. For a module that is compiled by a JIT
 * the compiler adds a function to it that tells of its points (midflight_osr_emit_registration, see
 * midflight_osr_api.h). Its address is given here before the code runs, and again before the code
 * is freed; what was counted stays. In between the points are like all others. */
typedef void midflight_osr_visit(void *start, void *stop, const void *patch_start,
                                 const void *patch_stop);
typedef void midflight_osr_points(midflight_osr_visit *visit);
void midflight_osr_register_code(midflight_osr_points *points) __attribute__((weak));
void midflight_osr_unregister_code(midflight_osr_points *points) __attribute__((weak));

/* The same for who knows where the JIT has put the sections midflight_osr and midflight_osr_patch:
 * their bounds; those of the second may be NULL. */
void midflight_osr_register(void *start, void *stop, const void *patch_start,
                            const void *patch_stop) __attribute__((weak));
void midflight_osr_unregister(void *start) __attribute__((weak));

/* MIDFLIGHT_OSR_POINT("name"); marks a place in a function where an OSR point can be. It does
 * nothing unless the compiler driver is asked for points; it defines MIDFLIGHT_OSR then, and the
 * compiler's plugin replaces all calls of this function. The name must be a string literal. */
#ifdef MIDFLIGHT_OSR
void midflight_osr_point_here(const char *name) __attribute__((nothrow, leaf));
#define MIDFLIGHT_OSR_POINT(name) midflight_osr_point_here("" name)
#else
#define MIDFLIGHT_OSR_POINT(name) ((void)0)
#endif

/* MIDFLIGHT_OSR_OPEN("name", key); marks a place where an open point can be, which asks for
 * versions for the value of `key`: a variable that is an integer or a pointer. */
#ifdef MIDFLIGHT_OSR
void midflight_osr_open_here(const char *name, ...) __attribute__((nothrow, leaf));
#define MIDFLIGHT_OSR_OPEN(name, key) midflight_osr_open_here("" name, key)
#else
#define MIDFLIGHT_OSR_OPEN(name, key) ((void)(key))
#endif

/* Assumptions
 *
 * midflight_assume(&a) is the value of `a`. In versions that are made at run time it is a constant,
 * if `a` is a variable of static storage duration, until midflight_invalidate(&a, value) gives it
 * another one. Only that changes it, but for its initializer. When it returns, no activation begins
 * to use the former value any more, and all that do leave their version at their next point, in any
 * thread: directly behind a call or an atomic operation that may acquire, or at the head of a loop.
 * Until then they use the former value, as a relaxed load may give it.
 *
 * It may be called from any thread and from signal handlers. Returns 0; -EINVAL if `a` is NULL;
 * -EBUSY in a function that the runtime has called itself, where nothing is changed. */
typedef struct {
    int64_t value;
} midflight_assumption;
#define MIDFLIGHT_ASSUMPTION(value) {value}
#ifdef MIDFLIGHT_OSR
#define midflight_assume(a)                                                                        \
    __builtin_annotation(__atomic_load_n(&(a)->value, __ATOMIC_RELAXED), "midflight.assume")
#else
#define midflight_assume(a) __atomic_load_n(&(a)->value, __ATOMIC_RELAXED)
#endif
int midflight_invalidate(midflight_assumption *a, int64_t value) __attribute__((weak));

/* Generators of the program's own, for open points that lead to open:user:NAME. `make` is called
 * when such a point has fired for a new key, in a thread of the runtime's, one at a time; it may be
 * called until the program ends. It returns 0 for a version, 1 if there is nothing to gain for this
 * key, and any other number if it fails: then the program goes on in its base version. It uses the
 * same libLLVM as the code generator; void * are LLVMValueRef. Returns 0, or a negative error
 * number. */
struct midflight_generation {
    uint32_t version; /* MIDFLIGHT_GENERATION_VERSION */
    uint32_t llvm;    /* major version of LLVM */
    void *function;   /* the function's base version, which is not to be changed */
    void *point;      /* the instruction that the point is before */
    void *value;      /* the value that is profiled, or NULL */
    uint64_t key;     /* what it is in this version */
    /* Assumes from the instruction `before` on that a value of the function, an integer or a
     * pointer that is live there, is a constant: a guard checks it, and where it fails the function
     * goes on in its base version. Not 0: it cannot. */
    int (*assume)(struct midflight_generation *, void *value, void *before, uint64_t is);
    /* Has each function of the version changed when all guards are in it, before it is optimized.
     * What is done must hold where all guards hold. `change` returns 0, or not for a failure. */
    void (*transform)(struct midflight_generation *, int (*change)(void *function, void *user),
                      void *user);
    /* Says why it fails, for the line that is printed then. */
    void (*fail)(struct midflight_generation *, const char *why);
};
#define MIDFLIGHT_GENERATION_VERSION 1
typedef int midflight_generator(struct midflight_generation *generation, void *user);
int midflight_osr_generator(const char *name, midflight_generator *make, void *user)
    __attribute__((weak));

/* What a point that exits to a host hands to the host's callback
 *
 *     void callback(struct midflight_osr_exit *exit);
 *
 * The callback does the rest of the activation's work: it stores what the function returns in
 * `result`, and returns. All of this is valid until then. */

/* Version of these structures. */
#define MIDFLIGHT_OSR_VERSION 1

/* Kinds of values. */
enum midflight_osr_kind {
    MIDFLIGHT_OSR_INTEGER = 0, /* an integer */
    MIDFLIGHT_OSR_FLOAT = 1,   /* an IEEE binary floating-point number */
    MIDFLIGHT_OSR_POINTER = 2, /* a pointer */
    MIDFLIGHT_OSR_OTHER = 3    /* of another type, as it is laid out in memory */
};

/* A live value. */
struct midflight_osr_value {
    const char *name;    /* its name in the IR, or that of the source variable */
    const void *address; /* where it is */
    uint32_t kind;       /* one of enum midflight_osr_kind */
    uint32_t bits;       /* its size in bits */
};

struct midflight_osr_exit {
    uint32_t version;     /* MIDFLIGHT_OSR_VERSION */
    uint32_t count;       /* number of live values */
    const char *function; /* name of the function */
    const char *point;    /* name of the point */
    const struct midflight_osr_value *values;
    void *result;         /* where the function's result goes; NULL if it returns none */
    uint32_t result_kind; /* one of enum midflight_osr_kind */
    uint32_t result_bits; /* size of the result in bits; 0 if there is none */
};

#ifdef __cplusplus
}
#endif

#endif
