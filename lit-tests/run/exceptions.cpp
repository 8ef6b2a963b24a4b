// Exceptions: landing pads are ordinary edges; a frame that is unwound past is interrupted unless a
// cleanup resumes, which is a way out like any other.
// RUN: %cxx %level --midflight-k=4 %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t && %show %t %t.mfp | %expect \
// RUN:   "f('_Z6catchyi')['entries'] == 100" "f('_Z6catchyi')['interrupted'] == 0" \
// RUN:   "f('_Z7cleanupi')['entries'] == 100" "f('_Z7cleanupi')['interrupted'] == 0" \
// RUN:   "f('_Z6throwsi')['entries'] == 100" "total('_Z6throwsi') == 100"
#include <stdexcept>

static int caught, cleaned;

struct Cleanup {
  ~Cleanup() { cleaned++; }
};

__attribute__((noinline)) int throws(int i) {
  if (i % 4 == 0)
    throw std::runtime_error("four");
  return i;
}

__attribute__((noinline)) int cleanup(int i) {
  Cleanup c;
  return throws(i) + 1;
}

__attribute__((noinline)) int catchy(int i) {
  try {
    return cleanup(i);
  } catch (const std::exception &) {
    return caught++;
  }
}

int main() {
  for (int i = 0; i < 100; i++)
    catchy(i);
  return !(caught == 25 && cleaned == 100);
}
