"""result-types.py TRIPLE: a module of functions that return what a target may split, widen or pass in memory.

Its `main` returns how many of them return something else than what they read.
"""

import sys

ELEMENTS = "i1 i8 i16 i32 i64 i128 half float double fp128 ptr".split()
LENGTHS = list(range(1, 13)) + [15, 16, 17, 20]

types = [f"<{n} x {e}>" for e in ELEMENTS for n in LENGTHS]
types += [f"<{n} x {e}>" for e in ["i1", "i8", "i16"] for n in (24, 32, 33, 64)]
types += [f"<{n} x {e}>" for e in ["i3", "i7", "i24", "i48", "i65"] for n in (1, 2, 3, 4, 5)]
for e in [*ELEMENTS, "i7", "i65", "i200"]:
    types += [e] + [f"[{n} x {e}]" for n in (0, 1, 2, 3)]
FIRST = ["i8", "i64", "float", "<4 x float>", "<3 x float>", "<2 x i32>", "<5 x i8>", "ptr", "i128"]
SECOND = ["i64", "double", "<4 x i32>", "<2 x float>", "<3 x i16>", "<2 x i1>", "fp128", "<8 x i8>"]
types += [f"{{ {a}, {b} }}" for a in FIRST for b in SECOND]
types += ["{}", "{ i8, i8, i8 }", "{ float, float, float }", "{ [2 x float], i64 }", "[2 x <3 x float>]"]
types += ["{ { i32, i32 }, { float, float } }", "[2 x <1 x i64>]", "[2 x <2 x half>]"]
# With AVX-512, LLVM cannot pass it as an argument.
types.remove("<1 x i1>")

print(
    f"""target triple = "{sys.argv[1]}"
@from = internal global [1024 x i8] zeroinitializer, align 128
@got = internal global [1024 x i8] zeroinitializer, align 128
@want = internal global [1024 x i8] zeroinitializer, align 128
@runs = internal global i32 0
declare i32 @memcmp(ptr, ptr, i64)
declare ptr @memset(ptr, i32, i64)
define internal void @use() noinline optnone {{
  %old = load volatile i32, ptr @runs
  %new = add i32 %old, 1
  store volatile i32 %new, ptr @runs
  ret void
}}
"""
)
for number, ty in enumerate(types):
    print(
        f"""define internal {ty} @f{number}(ptr %p) noinline {{
  %a = load {ty}, ptr %p
  call void @use()
  call void @use()
  ret {ty} %a
}}
define internal i32 @test{number}() noinline optnone {{
  call ptr @memset(ptr @got, i32 0, i64 1024)
  call ptr @memset(ptr @want, i32 0, i64 1024)
  %got = call {ty} @f{number}(ptr @from)
  store {ty} %got, ptr @got
  %want = load {ty}, ptr @from
  store {ty} %want, ptr @want
  %order = call i32 @memcmp(ptr @got, ptr @want, i64 1024)
  %wrong = icmp ne i32 %order, 0
  %count = zext i1 %wrong to i32
  ret i32 %count
}}"""
    )
print("define i32 @main() noinline optnone {\n  call ptr @memset(ptr @from, i32 1, i64 1024)")
for number in range(len(types)):
    before = f"%sum{number - 1}" if number else "0"
    print(f"  %wrong{number} = call i32 @test{number}()")
    print(f"  %sum{number} = add i32 {before}, %wrong{number}")
print(f"  ret i32 %sum{len(types) - 1}\n}}")
