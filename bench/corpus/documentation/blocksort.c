#ifndef NDEBUG
#error "compiled without the option that the command line has"
#endif

void mainSort(int *p, int n) {
  for (int i = 1; i < n; i++)
    for (int j = i; j > 0 && p[j] < p[j - 1]; j--) {
      int other = p[j];
      p[j] = p[j - 1];
      p[j - 1] = other;
    }
}
