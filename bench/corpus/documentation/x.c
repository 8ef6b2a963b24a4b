#include <midflight.h>
#include <stdio.h>

int main(void) {
  unsigned state = 1;
  for (int i = 0; i < 5000; i++) {
    MIDFLIGHT_OSR_POINT("round");
    state = state * 1103515245u + 12345u;
  }
  printf("%u\n", state);
  return 0;
}
