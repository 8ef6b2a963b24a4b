/* Runs the program: as it is, in eight threads (THREADS), or in a child too (CHILD); or out of a library
   that is loaded three times (LIBRARY names it). */
#include "program.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 1 << 14 };
static char texts[8][SIZE];

#ifdef LIBRARY
static void *load(int (**run)(char *, int, int)) {
  void *library = dlopen(getenv("OPEN_LIBRARY") ? getenv("OPEN_LIBRARY") : LIBRARY, RTLD_NOW);
  if (!library) {
    puts(dlerror());
    exit(1);
  }
  *(void **)run = dlsym(library, "run_all");
  return library;
}

int main(void) {
  int (*run)(char *, int, int);
  for (int round = 0; round < 3; round++) {
    void *library = load(&run);
    run(texts[0], SIZE, round);
    fputs(texts[0], stdout);
    /* Versions are told of what is loaded at the end. */
    if (round < 2)
      dlclose(library);
  }
}
#else

static void *in_thread(void *number) {
  for (int round = 0; round < 3; round++)
    run_all(texts[(long)number], SIZE, (int)(long)number + round);
  return NULL;
}

int main(void) {
#ifdef THREADS
  pthread_t threads[8];
  for (long t = 0; t < 8; t++)
    pthread_create(&threads[t], NULL, in_thread, (void *)t);
  for (long t = 0; t < 8; t++) {
    pthread_join(threads[t], NULL);
    fputs(texts[t], stdout);
  }
#else
  for (int round = 0; round < 2; round++) {
    in_thread((void *)0);
    fputs(texts[0], stdout);
  }
#endif
#ifdef CHILD
  fflush(stdout);
  pid_t child = fork();
  in_thread((void *)3L);
  fputs(texts[3], stdout);
  if (child == 0)
    return 3;
  fflush(stdout);
  int status = 0;
  waitpid(child, &status, 0);
  printf("child ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
#endif
}
#endif
