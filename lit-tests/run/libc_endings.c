// Ways out of a process that lead through libc: each leaves an exact profile, and ends as without it.
// RUN: %cc %level --midflight-k=2 -D_FORTIFY_SOURCE=2 -fstack-protector-all -Wno-deprecated-declarations -Wno-infinite-recursion -pthread %s -o %t
// RUN: rm -rf %t.d && mkdir %t.d
// RUN: python3 %S/Inputs/endings.py %t %t.d %midflight
#define _GNU_SOURCE
#include <assert.h>
#include <err.h>
#include <error.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <ucontext.h>
#include <unistd.h>

extern char **environ;

__attribute__((noinline)) static void work(void) { __asm__ volatile(""); }

static volatile int zero;

static void stop(int signal) { (void)signal; }

static void exit_again(void) {
  work();
  exit(8);
}

static void *wait_and_exit(void *unused) {
  usleep(50000);
  work();
  pthread_exit(unused);
}

__attribute__((noinline)) static void smash(char *volatile room) { memset(room, 7, 64); }

__attribute__((noinline)) static void overwrite(void) {
  char room[8];
  smash(room);
}

__attribute__((noinline)) static int overflow(volatile void *frame) {
  volatile char room[4096];
  room[0] = frame != NULL;
  return overflow(room) + room[0];
}

static void run(const char *how) {
  char *const arguments[] = {"true", NULL};
  if (!strcmp(how, "err"))
    err(3, "%s", "told");
  if (!strcmp(how, "errx"))
    errx(3, "%s", "told");
  if (!strcmp(how, "error"))
    error(3, 0, "%s", "told");
  if (!strcmp(how, "error_at_line"))
    error_at_line(3, 0, "file", 1, "%s", "told");
  if (!strcmp(how, "assert"))
    assert(zero);
  if (!strcmp(how, "assert_perror"))
    assert_perror(EINVAL + zero);
  if (!strcmp(how, "stack_chk_fail"))
    overwrite();
  if (!strcmp(how, "fortify_fail")) {
    char room[4];
    strcpy(room, zero ? "" : getenv("PATH"));
    puts(room);
  }
  if (!strcmp(how, "double_free")) {
    char *volatile memory = malloc(100);
    free(memory);
    free(memory);
  }
  if (!strcmp(how, "quick_exit"))
    quick_exit(3);
  if (!strcmp(how, "_Exit"))
    _Exit(3);
  if (!strcmp(how, "exit_group"))
    syscall(SYS_exit_group, 3);
  if (!strcmp(how, "syscall_execve"))
    syscall(SYS_execve, "/bin/true", arguments, environ);
  if (!strcmp(how, "execveat"))
    execveat(AT_FDCWD, "/bin/true", arguments, environ, 0);
  if (!strcmp(how, "fexecve"))
    fexecve(open("/bin/true", O_RDONLY), arguments, environ);
  if (!strcmp(how, "execvpe"))
    execvpe("true", arguments, environ);
  if (!strcmp(how, "exit_in_exit")) {
    atexit(exit_again);
    exit(3);
  }
  if (!strcmp(how, "pthread_exit")) {
    pthread_t id;
    pthread_create(&id, NULL, wait_and_exit, NULL);
    pthread_exit(NULL);
  }
  if (!strcmp(how, "thrd_exit"))
    thrd_exit(3);
  if (!strcmp(how, "context")) {
    // A context with no successor ends the process.
    static ucontext_t context;
    static char stack[1 << 16];
    getcontext(&context);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = sizeof stack;
    context.uc_link = NULL;
    makecontext(&context, work, 0);
    setcontext(&context);
  }
  if (!strcmp(how, "spawn")) {
    pid_t child;
    int status = 0;
    if (posix_spawn(&child, "/there/is/none", NULL, NULL, arguments, environ) != ENOENT)
      exit(90);
    if (system("exit 5") >> 8 != 5 || system("/there/is/none 2> /dev/null") >> 8 != 127)
      exit(91);
    FILE *pipe = popen("exit 6", "r");
    if (!pipe || pclose(pipe) >> 8 != 6)
      exit(92);
    if (posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ) ||
        waitpid(child, &status, 0) != child || status)
      exit(93);
    exit(3);
  }
  if (!strcmp(how, "reset")) {
    struct sigaction once = {.sa_handler = stop, .sa_flags = SA_RESETHAND};
    sigaction(SIGSEGV, &once, NULL);
    *(volatile int *)8 = 1;
  }
  if (!strcmp(how, "sysv_signal")) {
    sysv_signal(SIGTERM, stop);
    raise(SIGTERM);
    raise(SIGTERM);
  }
  if (!strcmp(how, "sigset")) {
    sigset(SIGTERM, stop);
    sigset(SIGTERM, SIG_DFL);
    raise(SIGTERM);
  }
  if (!strcmp(how, "bsd_signal")) {
    signal(SIGTERM, stop);
    ssignal(SIGTERM, SIG_DFL);
    raise(SIGTERM);
  }
  if (!strcmp(how, "stack_off")) {
    stack_t off = {.ss_flags = SS_DISABLE}, now;
    if (sigaltstack(&off, &now) || !(now.ss_flags & SS_DISABLE) || now.ss_sp)
      exit(94);
    overflow(&now);
  }
  if (!strcmp(how, "daemon")) {
    if (daemon(1, 1))
      exit(95);
    work();
    puts("ready");
    exit(3);
  }
  if (!strcmp(how, "_Fork")) {
    pid_t child = _Fork();
    if (child == 0) {
      work();
      _exit(0);
    }
    waitpid(child, NULL, 0);
    exit(3);
  }
}

int main(int argc, char **argv) {
  struct rlimit none = {0, 0}, small = {1 << 20, RLIM_INFINITY};
  setrlimit(RLIMIT_CORE, &none);
  if (argc > 1 && !strcmp(argv[1], "stack_off"))
    setrlimit(RLIMIT_STACK, &small);
  for (int i = 0; i < 1000; i++)
    work();
  if (argc > 1)
    run(argv[1]);
  return 0;
}
