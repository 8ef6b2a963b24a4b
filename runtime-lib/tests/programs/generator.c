/* What stands for the code generator: its versions are functions of its own. GENERATOR says what it
 * does:
 *
 *     make       at once, the default
 *     slow       in 300 ms; may be combined with the following
 *     nothing    for any key
 *     fail       with a message
 *     silent     fails without one
 *     hang       for ever
 *     early      wrong: before its code is there
 *     torn       wrong: the record of the version that was made before gets the new code, too
 */
#include "open.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VERSIONS = 16 };

int compiles;
/* The process in which it is at work. */
static pid_t busy;

/* Whether the code of a version is there. */
static int is_there[VERSIONS];

static long code_of(int number)
{
    if (!__atomic_load_n(&is_there[number], __ATOMIC_ACQUIRE))
        abort();
    return number * 1000;
}

static void *finish(void *number)
{
    usleep(1000);
    __atomic_store_n(&is_there[(uintptr_t)number], 1, __ATOMIC_RELEASE);
    return NULL;
}

/* Which version it is, for which live value. */
#define VERSION(number)                                                                            \
    static long version_##number(long live) { return code_of(number) + live; }
#define SIXTEEN(of)                                                                                \
    of(0) of(1) of(2) of(3) of(4) of(5) of(6) of(7) of(8) of(9) of(10) of(11) of(12) of(13) of(14) \
        of(15)
SIXTEEN(VERSION)
#define NAME(number) version_##number,
static version *const versions[VERSIONS] = {SIXTEEN(NAME)};

static int is_body(const struct code *code, const char *name)
{
    char expected[100];
    int length = snprintf(expected, sizeof expected, "bitcode of %s", name);
    return code->length == (uint64_t)length + 1 && !memcmp(code->bytes, expected, code->length);
}

static const char *problem_of(const struct request *request)
{
    char point[100];
    snprintf(point, sizeof point, "%s#0", request->function);
    if (request->version != OPEN_VERSION || request->key_number != 7 || request->at != 8 ||
        request->count != 9 || request->is_generic > 1)
        return "wrong numbers";
    if (strcmp(request->point, point) || strcmp(request->generator, "osr"))
        return "wrong names";
    if (!is_body(&request->code, request->function) || request->code.num_links != 2 ||
        request->code.links[0] != request->code.entry)
        return "wrong IR";
    if (request->body.length && !is_body(&request->body, "callee"))
        return "wrong IR of the key";
    if (request->made->key != request->key || !request->open || !request->left)
        return "wrong record";
    return NULL;
}

void midflight_jit_compile(const struct request *request, struct answer *answer)
{
    const char *mode = getenv("GENERATOR");
    mode = mode ? mode : "make";
    __atomic_fetch_add(&compiles, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&busy, getpid(), __ATOMIC_RELAXED);
    if (strstr(mode, "slow"))
        usleep(300000);
    while (strstr(mode, "hang"))
        pause();
    const char *problem = problem_of(request);
    if (strstr(mode, "fail"))
        problem = "the moon is\nfull";
    if (problem)
        snprintf(answer->message, sizeof answer->message, "%s", problem);
    if (problem || strstr(mode, "silent")) {
        answer->status = FAILED;
    } else if (strstr(mode, "nothing")) {
        answer->status = NOTHING;
    } else {
        /* With the IR of the key, another version. */
        uint64_t number =
            request->key_kind == KEY_CALLEE ? request->body.length != 0 : request->key;
        if (request->is_generic)
            number = GENERIC;
        answer->status = MADE;
        /* It stays. */
        struct assumption *assumption = malloc(sizeof *assumption);
        assumption->address = (int64_t *)request->code.links[1];
        if (request->read(request->made, assumption->address, &assumption->value) == 0) {
            answer->assumptions = assumption;
            answer->num_assumptions = 1;
        }
        answer->target = answer->next = versions[number % VERSIONS];
        answer->entry = request->code.entry ? answer->target : NULL;
        pthread_t thread;
        if (!strstr(mode, "early"))
            __atomic_store_n(&is_there[number % VERSIONS], 1, __ATOMIC_RELEASE);
        else if (!pthread_create(&thread, NULL, finish, (void *)(uintptr_t)(number % VERSIONS)))
            pthread_detach(thread);
        static struct made *before;
        if (before && strstr(mode, "torn"))
            __atomic_store_n(&before->target, answer->target, __ATOMIC_RELEASE);
        before = (struct made *)request->made;
    }
    errno = ENOEXEC;
    __atomic_store_n(&busy, 0, __ATOMIC_RELAXED);
}

static void end(void)
{
    if (__atomic_load_n(&busy, __ATOMIC_RELAXED) == getpid())
        (void)!write(2, "destroyed while it compiles\n", 28);
}

/* As objects of C++ are destroyed. */
__attribute__((constructor)) static void begin(void) { atexit(end); }
