/* The running example of the thesis (Fig. 4.2): whether an array is in order, by a function that says
 * what order is. */
int compare(const void *a, const void *b) {
  return *(const long *)a > *(const long *)b;
}

int isord(const long *v, long n, int (*c)(const void *, const void *)) {
  for (long i = 1; i < n; i++)
    if (c(v + i - 1, v + i) > 0)
      return 0;
  return 1;
}
