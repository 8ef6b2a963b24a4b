/* An interpreter of bytecode by a switch. What it does besides the work depends on a mode: the
   width of its integers, whether it checks their overflow, and whether it counts what it does. */
#include "common.h"

enum op { PUSH, LOAD, STORE, ADD, SUB, MUL, XOR, LESS, JUMP, JUMP_IF, HALT };
enum { CHECKS = 1, COUNTS = 2, NARROW = 4 };

typedef struct {
  unsigned char op;
  int operand;
} instruction;

typedef struct {
  long counts[HALT + 1];
  long overflows;
} statistics;

static inline int64_t kept(int64_t x, int mode, statistics *statistics) {
  int64_t narrow = (int32_t)x;
  if (mode & CHECKS)
    statistics->overflows += narrow != x;
  return (mode & NARROW) ? narrow : x;
}

NOINLINE int64_t run(const instruction *code, int64_t *variables, int mode,
                     statistics *statistics) {
  int64_t stack[32];
  int64_t *top = stack;
  if (IS_HAND)
    mode = NARROW;
  for (const instruction *at = code;;) {
    if (mode & COUNTS)
      statistics->counts[at->op]++;
    int operand = at->operand;
    switch (at++->op) {
    case PUSH:
      *top++ = operand;
      break;
    case LOAD:
      *top++ = variables[operand];
      break;
    case STORE:
      variables[operand] = *--top;
      break;
    case ADD:
      top--;
      top[-1] = kept(top[-1] + top[0], mode, statistics);
      break;
    case SUB:
      top--;
      top[-1] = kept(top[-1] - top[0], mode, statistics);
      break;
    case MUL:
      top--;
      top[-1] = kept((int64_t)((uint64_t)top[-1] * (uint64_t)top[0]), mode, statistics);
      break;
    case XOR:
      top--;
      top[-1] ^= top[0];
      break;
    case LESS:
      top--;
      top[-1] = top[-1] < top[0];
      break;
    case JUMP:
      at = code + operand;
      break;
    case JUMP_IF:
      if (*--top)
        at = code + operand;
      break;
    default:
      return *--top;
    }
  }
}

/* sum = 0; for (i = 0; i < n; i++) sum = (sum * 5 + i) ^ (i - 7) */
static const instruction program[] = {
    {PUSH, 0},    {STORE, 0}, {PUSH, 0}, {STORE, 1}, {JUMP, 18}, {LOAD, 0},  {PUSH, 5},
    {MUL, 0},     {LOAD, 1},  {ADD, 0},  {LOAD, 1},  {PUSH, 7},  {SUB, 0},   {XOR, 0},
    {STORE, 0},   {LOAD, 1},  {PUSH, 1}, {JUMP, 24}, {LOAD, 1},  {LOAD, 2},  {LESS, 0},
    {JUMP_IF, 5}, {LOAD, 0},  {HALT, 0}, {ADD, 0},   {STORE, 1}, {JUMP, 18},
};

int main(int argc, char **argv) {
  int64_t variables[3] = {0, 0, argument(argc, argv, 1, 40000000)};
  statistics statistics = {{0}, 0};
  const instruction *code = program;
  int64_t result = 0;
  int mode = NARROW;
  HIDDEN(code);
  TWICE(result = run(code, variables, mode, &statistics));
  printf("%lld", (long long)result);
  /* Another mode, as of a debugger, is another version. */
  variables[2] /= 100;
  result = run(code, variables, IS_HAND ? NARROW : NARROW | COUNTS | CHECKS, &statistics);
  printf(" %lld %d\n", (long long)result, IS_HAND || statistics.counts[MUL] == variables[2]);
  return 0;
}
