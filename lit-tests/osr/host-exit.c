// An exit to a host: instead of going on in a continuation, a function hands its live values to a
// callback of the program that embeds it, here an interpreter that finishes the loop. This is the example
// of docs/osr.md.
// RUN: %clang %level -g -DMIDFLIGHT_OSR -I%runtime_include %s -o %t %osr='osr-point;where=marker;when=count:6;exit=interpret;verify' %runtime
// RUN: %t | FileCheck %s

// CHECK: sum of 10 is 45
// CHECK: exit at 'in the loop' of sum
// CHECK-DAG: integer of 32 bits: 10
// CHECK-DAG: integer of 32 bits: 5
// CHECK-DAG: float of 64 bits: 10
// CHECK-DAG: pointer to 10 numbers
// CHECK: result: float of 64 bits
// CHECK: sum of 10 is 45
#include <midflight.h>
#include <stdio.h>
#include <string.h>

static double numbers[10];
static int exits;

__attribute__((noinline)) static double sum(const double *list, int count) {
  double total = 0;
  for (int i = 0; i < count; i++) {
    MIDFLIGHT_OSR_POINT("in the loop");
    total += list[i];
  }
  return total;
}

// What the interpreter knows of the function: how the values that are live at its point are called. The
// names are those of the IR, so here the kinds and the values tell them apart.
void interpret(struct midflight_osr_exit *exit) {
  const double *list = NULL;
  double total = 0;
  int integers[2], known = 0;

  exits++;
  printf("exit at '%s' of %s\n", exit->point, exit->function);
  for (unsigned i = 0; i < exit->count; i++) {
    const struct midflight_osr_value *value = &exit->values[i];
    switch (value->kind) {
    case MIDFLIGHT_OSR_INTEGER:
      if (value->bits == 32 && known < 2) {
        memcpy(&integers[known], value->address, sizeof(int));
        printf("integer of %u bits: %d\n", value->bits, integers[known++]);
      }
      break;
    case MIDFLIGHT_OSR_FLOAT:
      memcpy(&total, value->address, sizeof total);
      printf("float of %u bits: %g\n", value->bits, total);
      break;
    case MIDFLIGHT_OSR_POINTER:
      memcpy(&list, value->address, sizeof list);
      printf("pointer to %s\n", list == numbers ? "10 numbers" : "something else");
      break;
    case MIDFLIGHT_OSR_OTHER:
      printf("other of %u bits\n", value->bits);
      break;
    }
  }
  int from = integers[0] < integers[1] ? integers[0] : integers[1];
  int count = integers[0] < integers[1] ? integers[1] : integers[0];
  while (from < count)
    total += list[from++];
  printf("result: %s of %u bits\n", exit->result_kind == MIDFLIGHT_OSR_FLOAT ? "float" : "?", exit->result_bits);
  memcpy(exit->result, &total, sizeof total);
}

int main(void) {
  for (int i = 0; i < 10; i++)
    numbers[i] = i;
  // Five numbers are too few for the counter.
  double first = sum(numbers, 5), second = sum(numbers + 5, 5);
  printf("sum of 10 is %g\n", first + second);
  printf("sum of 10 is %g\n", sum(numbers, 10));
  return !(exits == 1 && midflight_osr_count("in the loop") == 1);
}
