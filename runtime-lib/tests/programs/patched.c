/* A patch point in a running loop, that is armed and disarmed from elsewhere. */
#include "points.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 4, CYCLES = 1000 };

static const struct info loop_infos[] = {
    {0x1111111111111111, "loop", "run", "run.osr", 0, 12, PATCH, 0},
    {0x2222222222222222, "dropped", "run", "run.osr", 1, 13, PATCH, 0},
    {0x3333333333333333, "flag", "run", "run.osr", 2, 14, FLAG, 0},
};
POINTS(run, "patched.c", 3, 3, loop_infos);

static atomic_ullong fired, rounds;
static atomic_int stop;

/* One round of work, which a transition does elsewhere; `round` keeps the result. */
#define ROUND(round, slow)                                                                         \
    do {                                                                                           \
        PATCHED(0x1111111111111111, slow);                                                         \
        (round)++;                                                                                 \
        break;                                                                                     \
    slow:                                                                                          \
        TRANSITION(run, 0);                                                                        \
        atomic_fetch_add(&fired, 1);                                                               \
        (round)++;                                                                                 \
    } while (0)

__attribute__((noinline)) static void one_round(unsigned long long *round)
{
    ROUND(*round, slow);
}

/* Runs until it is told to stop. The point has several places. */
static void *run_on(void *unused)
{
    unsigned long long round = 0;
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        ROUND(round, first);
        ROUND(round, second);
        one_round(&round);
    }
    if (round % 3)
        abort();
    atomic_fetch_add(&rounds, round);
    return unused;
}

/* Runs until the point fires. */
static unsigned long long run_until_it_fires(void)
{
    unsigned long long round = 0;
    for (;;) {
        PATCHED(0x1111111111111111, out);
        atomic_store_explicit(&rounds, ++round, memory_order_relaxed);
    }
out:
    TRANSITION(run, 0);
    atomic_fetch_add(&fired, 1);
    return round;
}

static void *arm_later(void *unused)
{
    while (!atomic_load(&rounds))
        usleep(1000);
    errno = 77;
    if (midflight_osr_arm("loop") != 1 || errno != 77)
        abort();
    return unused;
}

extern const struct patch {
    int32_t nop, target;
    uint64_t id;
} __start_midflight_osr_patch[], __stop_midflight_osr_patch[];

static unsigned char *place_of(const struct patch *patch)
{
    unsigned char *place = (unsigned char *)&patch->nop + patch->nop;
    __asm__("" : "+r"(place)); /* not in the constant table, whatever it is computed from */
    return place;
}

#ifdef __x86_64__
static const unsigned char nop[] = {0x0f, 0x1f, 0x44, 0, 0};
static const unsigned char other[] = {0x90, 0x90, 0x90, 0x90, 0x90};
#define IS_JUMP(place) (*(place) == 0xe9)
#else
static const unsigned char nop[] = {0x1f, 0x20, 0x03, 0xd5};
static const unsigned char other[] = {0x3f, 0x20, 0x03, 0xd5}; /* yield */
#define IS_JUMP(place) ((place)[3] >> 2 == 5)
#endif

enum kind { NOPS, JUMPS };

/* How many places are jumps, or the very nop. */
static int count_places(enum kind kind)
{
    int count = 0;
    for (const struct patch *p = __start_midflight_osr_patch; p < __stop_midflight_osr_patch; p++)
        count += kind == JUMPS ? IS_JUMP(place_of(p)) : !memcmp(place_of(p), nop, sizeof nop);
    return count;
}

static int in_the_middle(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, arm_later, NULL))
        return 1;
    unsigned long long round = run_until_it_fires();
    pthread_join(thread, NULL);
    int places = count_places(JUMPS);
    if (places < 4 || count_places(NOPS) || midflight_osr_disarm("*:lo*p") != 1)
        return 2;
    if (count_places(NOPS) != places || count_places(JUMPS))
        return 3;
    for (int i = 0; i < 1000; i++)
        one_round(&round);
    printf("%d %llu %d %d\n", round > 1000, midflight_osr_count("loop"), (int)fired,
           midflight_osr_arm("nothing"));
    return 0;
}

static int cycles(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, run_on, NULL))
            return 1;
    for (int i = 0; i < CYCLES; i++) {
        if (midflight_osr_arm("loop") != 1)
            return 2;
        if (i % 100 == 0)
            usleep(1000); /* let them fire */
        if (midflight_osr_disarm("loop") != 1)
            return 3;
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d %d\n", fired > 0, midflight_osr_count("loop") == fired && rounds >= fired);
    return count_places(JUMPS) != 0;
}

static void *cycle(void *unused)
{
    for (int i = 0; i < CYCLES / 4; i++)
        if (midflight_osr_arm("*") != 2 || midflight_osr_disarm("*") != 2)
            abort();
    return unused;
}

/* Several threads arm and disarm at a time, and a signal handler too. */
static void on_alarm(int number)
{
    (void)number;
    midflight_osr_arm("loop");
    midflight_osr_disarm("loop");
}

static int contended(void)
{
    pthread_t threads[THREADS];
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, i % 2 ? cycle : run_on, NULL))
            return 1;
    for (int i = 0; i < 200; i++)
        pthread_kill(threads[i % THREADS & 2], SIGUSR1);
    pthread_join(threads[1], NULL);
    pthread_join(threads[3], NULL);
    atomic_store(&stop, 1);
    pthread_join(threads[0], NULL);
    pthread_join(threads[2], NULL);
    printf("%d\n", midflight_osr_count("loop") == fired);
    return count_places(JUMPS) != 0;
}

/* What is armed at start, and toggled by a signal. */
static int toggled(const char *signal)
{
    unsigned long long round = 0;
    for (int i = 0; i < 4; i++) {
        one_round(&round);
        int flag = FLAGGED(run, 2);
        printf("%llu%d ", (unsigned long long)atomic_exchange(&fired, 0), flag);
        raise(atoi(signal));
    }
    printf("%llu\n", midflight_osr_count("flag"));
    return 0;
}

static int refuse_to_change_code(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 77;
    printf("%d\n", midflight_osr_arm("loop") == -EACCES);
    return count_places(JUMPS) != 0;
}

static int find_foreign_code(void)
{
    unsigned char *place = place_of(__start_midflight_osr_patch);
    uintptr_t page = (uintptr_t)place & -(uintptr_t)4096;
    if (mprotect((void *)page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC))
        return 77;
    memcpy(place, other, sizeof other);
    printf("%d %d\n", midflight_osr_arm("loop") == -ENOEXEC, memcmp(place, other, sizeof other));
    return count_places(JUMPS) != 0;
}

static int masks(void)
{
    sigset_t set, now;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_SETMASK, &set, NULL);
    errno = 55;
    int arm = midflight_osr_arm("*"), nothing = midflight_osr_arm(NULL);
    int disarm = midflight_osr_disarm("*");
    int error = errno;
    sigprocmask(SIG_SETMASK, NULL, &now);
    printf("%d %d %d %d %d\n", arm, disarm, nothing == -EINVAL, error,
           sigismember(&now, SIGUSR1) && !sigismember(&now, SIGUSR2));
    return 0;
}

int main(int argc, char **argv)
{
    switch (argc > 1 ? argv[1][0] : 0) {
    case 'm': return in_the_middle();
    case 'c': return cycles();
    case 'x': return contended();
    case 't': return toggled(argv[2]);
    case 'r': return refuse_to_change_code();
    case 'f': return find_foreign_code();
    case 'p': return masks();
    }
    return 1;
}
