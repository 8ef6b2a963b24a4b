// Sanitizers watch emitted code too, and find nothing: counters are atomic, and what the runtime hands
// out is initialized. Threads take over the counters of those that have ended, without a word of it.
// DEFINE: %{counts} = "f('work')['entries'] == 30 * 20 + 10" "f('work')['interrupted'] == 0"
// REQUIRES: sanitizers
// RUN: %cc %level --midflight-k=4 --midflight-stage=early -pthread -fsanitize=thread %s -o %t
// RUN: env MIDFLIGHT_PROFILE=%t.mfp %t 2>&1 | count 0 && %show %t %t.mfp > %t.json && %expect %{counts} < %t.json
// RUN: %cc %level --midflight-k=4 --midflight-stage=late -pthread -fsanitize=thread %s -o %t
// RUN: env MIDFLIGHT_PROFILE=%t.mfp %t 2>&1 | count 0 && %show %t %t.mfp > %t.json && %expect %{counts} < %t.json
// RUN: %cc %level --midflight-k=4 --midflight-stage=early -pthread -fsanitize=memory %s -o %t
// RUN: env MIDFLIGHT_PROFILE=%t.mfp %t 2>&1 | count 0 && %show %t %t.mfp > %t.json && %expect %{counts} < %t.json
// RUN: %cc %level --midflight-k=4 --midflight-stage=late -pthread -fsanitize=memory %s -o %t
// RUN: env MIDFLIGHT_PROFILE=%t.mfp %t 2>&1 | count 0 && %show %t %t.mfp > %t.json && %expect %{counts} < %t.json
// RUN: %cc %level --midflight-k=4 --midflight-stage=early -pthread -fsanitize=address,undefined %s -o %t
// RUN: env MIDFLIGHT_PROFILE=%t.mfp %t 2>&1 | count 0 && %show %t %t.mfp > %t.json && %expect %{counts} < %t.json
// RUN: %cc %level --midflight-k=4 --midflight-stage=late -pthread -fsanitize=address,undefined %s -o %t
// RUN: env MIDFLIGHT_PROFILE=%t.mfp %t 2>&1 | count 0 && %show %t %t.mfp > %t.json && %expect %{counts} < %t.json
//
// They still find what the program does wrong.
// RUN: %cc %level -pthread -DWRONG=0 -g -fsanitize=thread %s -o %t && not %t 2>&1 | FileCheck --check-prefix=RACE %s
// RUN: %cc %level -pthread -DWRONG=0 -g -fsanitize=memory %s -o %t && not %t 2>&1 | FileCheck --check-prefix=MEMORY %s
// RUN: %cc %level -pthread -DWRONG=1 -g -fsanitize=address %s -o %t && not %t 2>&1 | FileCheck --check-prefix=ADDRESS %s
// RACE: data race
// RACE-NOT: {{(in|#[0-9]+) [^ /]*midflight}}
// MEMORY: use-of-uninitialized-value
// ADDRESS: heap-buffer-overflow
#include <pthread.h>
#include <stdlib.h>

static unsigned ended, sink;

__attribute__((noinline)) static unsigned work(unsigned n) {
  unsigned *numbers = malloc((n + 1) * sizeof *numbers), sum = 0;
  for (unsigned i = 0; i <= n; i++)
    numbers[i] = i % 3 ? i : n;
  for (unsigned i = 0; i <= n; i++)
    if (numbers[i] & 1)
      sum += numbers[i];
  free(numbers);
  return sum;
}

static void *run(void *argument) {
  unsigned sum = 0;
  for (unsigned i = 0; i < 20; i++)
    sum += work(i + (unsigned)(size_t)argument);
  __atomic_fetch_add(&sink, sum, __ATOMIC_RELAXED);
  // Nothing that a sanitizer knows of orders this thread and the next.
  __atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED);
  return NULL;
}

int main(void) {
  for (unsigned wave = 1; wave <= 10; wave++) {
    for (size_t i = 0; i < 3; i++) {
      pthread_t id;
      if (pthread_create(&id, NULL, run, (void *)i) || pthread_detach(id))
        return 1;
    }
    work(wave);
    while (__atomic_load_n(&ended, __ATOMIC_RELAXED) != 3 * wave)
      ;
  }
#ifdef WRONG
  unsigned *two = malloc(2 * sizeof *two);
  pthread_t id;
  if (pthread_create(&id, NULL, run, NULL))
    return 1;
  ended = 1;
  pthread_join(id, NULL);
  if (two[work(WRONG)])
    sink++;
#endif
  return 0;
}
