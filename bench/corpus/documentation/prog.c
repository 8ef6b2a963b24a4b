#include <stdio.h>

__attribute__((noinline)) static int sum(const int *p, int n, int a, int b) {
  int total = 0;
  for (int i = 0; i < n; i++)
    if (p[i] > 3)
      total += p[i] + a * b;
    else
      total++;
  return total;
}

int main(void) {
  int numbers[5000], total = 0;
  for (int i = 0; i < 5000; i++)
    numbers[i] = i % 7;
  for (int round = 0; round < 3; round++)
    total += sum(numbers, 5000, round, 2);
  printf("%d\n", total);
  return 0;
}
