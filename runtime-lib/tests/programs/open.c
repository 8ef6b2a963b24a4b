/* Functions with open points. The first argument says what is done; what came of it is printed. */
#include "open.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

OPEN(work, KEY_VALUE);
OPEN(other, KEY_VALUE);
OPEN(calls, KEY_CALLEE);

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Fires until there is a version, but not longer than so many seconds. */
static version *fire_for(struct site *site, uint64_t key, double seconds)
{
    double until = now() + seconds;
    version *found;
    while (!(found = fire(site, key)) && now() < until)
        usleep(1000);
    return found;
}

static long result(version *found) { return found ? found(5) : -1; }

/* Threads, without those of an emulator. */
static int others;
static int threads(void)
{
    int count = -others;
    DIR *tasks = opendir("/proc/self/task");
    while (readdir(tasks))
        count++;
    closedir(tasks);
    return count - 2;
}

#ifndef STATIC
/* How often the generator was called; -1: it is not loaded. */
static int compiles(void)
{
    const char *name = getenv("MIDFLIGHT_JIT");
    void *library = name && *name ? dlopen(name, RTLD_NOW | RTLD_NOLOAD) : NULL;
    return library && dlsym(library, "compiles")
               ? __atomic_load_n((int *)dlsym(library, "compiles"), __ATOMIC_RELAXED)
               : -1;
}
#else
static int compiles(void) { return -1; }
#endif

/* Fires until there is a version, and shows what leads to it. */
static void once(void)
{
    errno = 77;
    long first = result(FIRE(work, 3));
    long then = result(fire_for(&work_site, 3, 5));
    printf("first %ld then %ld cached %d entry %ld compiles %d errno %d\n", first, then,
           CACHE(work) && CACHE(work)->key == 3, result((version *)ENTRY(work)), compiles(), errno);
}

/* Fires often, and shows how often there was a version. */
static void often(void)
{
    int found = 0;
    for (int i = 0; i < 300; i++) {
        found += FIRE(work, i % 2) != NULL;
        found += FIRE(other, i % 2) != NULL;
        if (i % 10 == 0)
            usleep(1000);
    }
    const char *mode = getenv("GENERATOR");
    if (mode && strstr(mode, "slow"))
        sleep(2);
    printf("found %d threads %d compiles %d\n", found, threads(), compiles());
}

static void keys(void)
{
    for (int round = 0; round < 3; round++)
        for (int key = 1; key <= 12; key++)
            printf("%ld ", result(FIRE(work, key)));
    printf("compiles %d\n", compiles());
}

/* Fires that are ignored, up to the one that leads to the version again. */
static int ignored(uint64_t key)
{
    int count = 0;
    while (!FIRE(work, key) && count < 1 << 24)
        count++;
    return count;
}

static void left(void)
{
    ignored(2);
    const struct made *made = CACHE(work);
    /* One that comes late begins anew: another process may have run. */
    int soon = 0;
    while (soon < 7) {
        midflight_osr_left(&work_site, made);
        if (CACHE(work) || ENTRY(work))
            printf("still there ");
        int count = ignored(2);
        soon = count ? soon + 1 : 0;
        if (count != (1 << soon) - 1)
            printf("%d behind %d ", count, soon);
    }
    usleep(1000);
    midflight_osr_left(&work_site, made);
    printf("late %d ", ignored(2));
    /* Another version's are not touched. */
    ignored(4);
    midflight_osr_left(&work_site, made);
    printf("%d %ld ", CACHE(work) && CACHE(work)->key == 4, result((version *)ENTRY(work)));
    int count = 0;
    while (result(FIRE(work, 2)) != OF_GENERIC && ++count < 1 << 24)
        if (CACHE(work) == made)
            midflight_osr_left(&work_site, made);
    printf("%d %ld %ld\n", count < 1 << 24, result((version *)ENTRY(work)), result(FIRE(work, 4)));
}

static void *fire_until(void *unused)
{
    (void)unused;
    return (void *)result(fire_for(&work_site, 1, 20));
}

static void crowd(void)
{
    pthread_t all[8];
    for (int i = 0; i < 8; i++)
        pthread_create(&all[i], NULL, fire_until, NULL);
    for (int i = 0; i < 8; i++) {
        void *found;
        pthread_join(all[i], &found);
        printf("%ld ", (long)found);
    }
    printf("compiles %d\n", compiles());
}

static void wait_for(pid_t child)
{
    int status;
    waitpid(child, &status, 0);
    printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status);
}

/* A child after a version was made, or while one is made. */
static void forks(int wait)
{
    FIRE(work, 1);
    if (wait)
        fire_for(&work_site, 1, 5);
    else
        usleep(100000);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        long old = result(FIRE(work, 1)), new = result(fire_for(&work_site, 2, wait ? 5 : 0.6));
        printf("in child %ld %ld\n", old, new);
        exit(3);
    }
    wait_for(child);
    printf("in parent %ld\n", result(fire_for(&work_site, 1, 5)));
}

#ifndef STATIC
struct library {
    void *handle;
    struct site *site;
    const void *callee;
};

static struct library load(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    struct library loaded = {handle, ((struct site * (*)(void)) dlsym(handle, "site"))(),
                             dlsym(handle, "callee")};
    return loaded;
}

/* A library that is unloaded while a version of its point is made, and one for its function. */
static void library(const char *path)
{
    for (int i = 0; i < 3; i++) {
        struct library loaded = load(path);
        printf("%ld ", result(fire(loaded.site, 6)));
        usleep(100000);
        dlclose(loaded.handle);
        /* Is it loaded again while the version is made, or after that? */
        usleep(i == 2 ? 400000 : 0);
    }
    struct library loaded = load(path);
    printf("%ld ", result(fire_for(loaded.site, 6, 10)));
    FIRE(calls, loaded.callee);
    usleep(100000);
    dlclose(loaded.handle);
    usleep(400000);
    printf("%d %d ", CACHE(calls) != NULL, ENTRY(calls) != NULL);
    loaded = load(path);
    /* Its IR is known now, and is not when it is unloaded. */
    printf("%ld ", result(fire_for(&calls_site, (uint64_t)loaded.callee, 10)));
    printf("%d %d ", CACHE(calls) != NULL, ENTRY(calls) != NULL);
    dlclose(loaded.handle);
    printf("%d %d ", CACHE(calls) != NULL, ENTRY(calls) != NULL);
    printf("%ld\n", result(fire_for(&calls_site, (uint64_t)loaded.callee, 10)));
}

/* A library that has a runtime of its own, and is unloaded while that begins to make a version. */
static void plugin(const char *path)
{
    double began = now();
    for (int i = 0; i < 3; i++) {
        struct library loaded = load(path);
        ((void (*)(void))dlsym(loaded.handle, "fire_once"))();
        dlclose(loaded.handle);
    }
    printf("%d ", now() - began < 5);
    struct library loaded = load(path);
    printf("%ld\n", ((long (*)(void))dlsym(loaded.handle, "run"))());
}
#endif

static int handled;

static void on_signal(int signal)
{
    (void)signal;
    handled++;
    for (int key = 0; key < 3; key++) {
        FIRE(other, key);
        FIRE(work, key);
    }
}

/* A handler that fires before any other code, and one that interrupts fires. */
static void handlers(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    usleep(100000);
    printf("threads %d ", threads());
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    struct itimerspec often = {{0, 20000}, {0, 20000}};
    timer_settime(timer, 0, &often, NULL);
    double until = now() + 1;
    for (uint64_t round = 0; now() < until; round++) {
        FIRE(work, round % 3);
        if (round % 50 == 0)
            leave(&work_site);
    }
    timer_delete(timer);
    version *found = NULL;
    for (until = now() + 20; !found && now() < until;)
        found = FIRE(work, 2);
    printf("threads %d handled %d found %d\n", threads(), handled > 100, found != NULL);
}

static void *fire_in_thread(void *unused)
{
    (void)unused;
    printf("threads %d\n", (int)(FIRE(work, 1) != NULL) + threads());
    return NULL;
}

/* Fires with signals blocked: to wait for one, or with a handler that may be what runs. */
static void masks(int with_handler)
{
    struct sigaction action = {.sa_handler = on_signal};
    if (with_handler)
        sigaction(SIGUSR2, &action, NULL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, fire_in_thread, NULL);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "once";
    setvbuf(stdout, NULL, _IOFBF, 4096);
    others = threads() - 1;
    if (!strcmp(what, "once"))
        once();
    else if (!strcmp(what, "often"))
        often();
    else if (!strcmp(what, "keys"))
        keys();
    else if (!strcmp(what, "left"))
        left();
    else if (!strcmp(what, "crowd"))
        crowd();
    else if (!strcmp(what, "fork"))
        forks(1);
    else if (!strcmp(what, "fork-meanwhile"))
        forks(0);
    else if (!strcmp(what, "handlers"))
        handlers();
    else if (!strcmp(what, "waits"))
        masks(0);
    else if (!strcmp(what, "masked"))
        masks(1);
    else if (!strcmp(what, "ends")) {
        /* While a version is made. */
        FIRE(work, 1);
        usleep(100000);
        exit(4);
    }
#ifndef STATIC
    else if (!strcmp(what, "library"))
        library(argv[2]);
    else if (!strcmp(what, "plugin"))
        plugin(argv[2]);
#endif
    return 0;
}
