// Loops as -O1 leaves them: rotated, with counters that were given more bits, and with tests of
// another kind (`i != n` for `i < n`).
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='function(mem2reg),print<osr-map>(default<O1>)' -disable-output %t.ll \
// RUN:   | FileCheck %s --check-prefix=MAP
// RUN: %cc --midflight-osr-fuzz=mem2reg '--midflight-osr-opt=default<O1>' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 20 -- %t | FileCheck %s
#include <stdio.h>

struct item {
  struct item *next;
  short flags;
  int value;
};

// Nothing runs in the loop that both versions must do alike.
// MAP: "name":"length"
// MAP-SAME: "opt_to_base":{"total":[[L:[0-9]+]],{{[^}]*}}"avail":[[L]],
// MAP-SAME: "unproved":[]
__attribute__((noinline)) int length(struct item *list) {
  int count = 0;
  while (list) {
    list = list->next;
    count++;
  }
  return count;
}

// One load of a phi is made of a phi of loads first.
// MAP: "name":"clear"
// MAP-SAME: "opt_to_base":{"total":[[C:[0-9]+]],{{[^}]*}}"avail":[[C]],
// MAP-SAME: "unproved":[]
__attribute__((noinline)) void clear(struct item **all) {
  for (struct item *item = *all; item; item = item->next)
    item->flags &= ~12;
}

// What comes in decides the second branch of the condition.
// MAP: "name":"some"
// MAP-SAME: "unproved":[]
__attribute__((noinline)) int some(struct item **from, int most) {
  int done;
  for (done = 0; done < most && *from; done++) {
    printf("%d\n", (*from)->value);
    *from = (*from)->next;
  }
  return done;
}

// MAP: "name":"sum"
// MAP-SAME: "unproved":[]
__attribute__((noinline)) int sum(const int *numbers, int count) {
  int sum = 0;
  for (int i = 0; i < count; i++) {
    printf("%d\n", numbers[i]);
    sum += numbers[i];
  }
  return sum;
}

// The count is taken down behind the loop's head, of what it was there.
// MAP: "name":"down"
// MAP-SAME: "unproved":[]
__attribute__((noinline)) int down(int count) {
  int first = count;
  while (count--) {
    printf("%d\n", count);
    printf("of %d\n", first);
  }
  return first;
}

// CHECK: no mismatch
int main(void) {
  static const int numbers[] = {3, 1, 4, 1, 5, 9, 2, 6};
  struct item items[6];
  for (int i = 0; i < 6; i++)
    items[i] = (struct item){i < 5 ? &items[i + 1] : NULL, (short)(i + 9), i};
  struct item *list = items;
  clear(&list);
  printf("%d %d\n", length(list), list->flags);
  for (int most = -1; most < 4; most++)
    printf("%d\n", some(&list, most));
  for (int count = -1; count <= 8; count++)
    printf("%d\n", sum(numbers, count));
  for (int count = 0; count < 4; count++)
    printf("%d\n", down(count));
  return 0;
}
