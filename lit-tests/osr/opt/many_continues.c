// The walk along which versions are unfolded comes to the head of the loop from everywhere, each
// time with another place where the other version may have gone instead. What waits there waits
// once: what waited doubled each time, and this function took more than five minutes.
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: timeout 300 %opt -passes='function(sroa),print<osr-map>(jump-threading)' -disable-output %t.ll | FileCheck %s --check-prefix=MAP
// MAP: "name":"parse"
extern int differ(const char *, const char *), note(int);

#define SET(n) if (!differ(s, "--" #n)) { a = n; continue; }
#define USE(n) if (!differ(s, "--" #n)) { a = n; if (b == n) c++; else note(n); continue; }
#define LETTERS(n) \
    case n: a = n; break; \
    case n + 1: if (c) { b = n; if (s[1] == 'x') s++; } break; \
    case n + 2: note(a); return b;

int parse(int count, const char **values) {
    int a = 0, b = 0, c = 0;
    for (int i = 1; i < count; i++) {
        const char *s = values[i];
        if (!s) continue;
        if (s[0] == '-') {
            SET(0) USE(1) SET(2) USE(3) SET(4) USE(5) SET(6) USE(7) SET(8) USE(9)
            SET(10) USE(11) SET(12) USE(13) SET(14) USE(15) SET(16) USE(17) SET(18) USE(19)
            while (s[1]) {
                s++;
                switch (s[0]) {
                    LETTERS(65) LETTERS(68) LETTERS(71) LETTERS(74) LETTERS(77) LETTERS(80)
                    LETTERS(83)
                default: note(3);
                }
            }
            continue;
        }
        if (!a) { a = 1; continue; }
        if (!b) { b = 2; continue; }
        c = 3;
    }
    if (a > 3 && b) note(c);
    if (c == 2 || b > 7) note(b);
    return a + b + c;
}
