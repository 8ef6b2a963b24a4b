// Coroutines are refused before they are split, and told; what they call is counted. Behind the
// optimizer a coroutine is functions like others: each way into it is an activation.
// RUN: %cxx %level -std=c++20 --midflight-stage=early -Rpass-missed=midflight %s -o %t 2>&1 | FileCheck --implicit-check-not=remark: %s
// CHECK: coroutines.cpp:[[#@LINE+22]]:1: remark: not profiled: it is a coroutine
// RUN: env MIDFLIGHT_PROFILE=%t.mfp %t && %show %t %t.mfp | %expect \
// RUN:   "not any(g['name'] == '_Z7numbersi' for g in document['functions'])" "f('_ZL3addi')['entries'] == 10" \
// RUN:   "total('_ZL3addi') == 37" "f('main')['interrupted'] == 0"
// RUN: %cxx %level -std=c++20 --midflight-stage=late -Rpass-missed=midflight %s -o %t 2>&1 | count 0
// RUN: env MIDFLIGHT_PROFILE=%t.mfp %t && %show %t %t.mfp | %expect \
// RUN:   "f('_Z7numbersi')['entries'] == 10" "f('_Z7numbersi.resume')['entries'] == 27 + 10" \
// RUN:   "f('_Z7numbersi.destroy')['entries'] == 10" "all(g['interrupted'] == 0 for g in document['functions'])"
#include <coroutine>

struct Numbers {
  struct promise_type {
    int value;
    Numbers get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int v) { value = v; return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};
__attribute__((noinline)) Numbers numbers(int n) {
  for (int i = 0; i < n; i++)
    if (i % 3)
      co_yield i;
}
__attribute__((noinline)) static int add(int n) {
  Numbers all = numbers(n);
  int sum = 0;
  for (all.handle.resume(); !all.handle.done(); all.handle.resume())
    sum += all.handle.promise().value;
  all.handle.destroy();
  return sum;
}
int main() {
  int sum = 0;
  for (int n = 0; n < 10; n++)
    sum += add(n);
  return sum != 84;
}
