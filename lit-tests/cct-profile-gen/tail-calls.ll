; A call in tail position stays there, with nothing behind it. It has a slot if its callee puts the word back for
; certain; else the word is put back before it.
; RUN: %opt -passes='cct-profile-gen<verify>' -S %s | FileCheck %s
; RUN: echo 'fun:*' > %t.list && echo '!leaf' >> %t.list
; RUN: %opt -passes='cct-profile-gen<functions=%t.list;verify>' -S %s | FileCheck %s --check-prefix=LISTED
; RUN: %opt -passes='cct-profile-gen<verify>' -S %s | llc -O2 | FileCheck %s --check-prefix=CODE
target triple = "x86_64-unknown-linux-gnu"

declare void @f()
declare i32 @g(i32)

; It is called in tail position by others that rely on it.
; CHECK-LABEL: define internal i32 @leaf(
; CHECK:         %midflight.node = phi ptr
; CHECK-NOT:     i64 32
; CHECK:         %[[BACK:.*]] = getelementptr inbounds i8, ptr %midflight.node, i64 16
; CHECK-NEXT:    %[[WAS:.*]] = load atomic ptr, ptr %[[BACK]] monotonic, align 8
; CHECK-NEXT:    store atomic ptr %[[WAS]], ptr @midflight_context_word monotonic, align 8
; CHECK-NEXT:    ret i32 %x
; LISTED-LABEL: define internal i32 @leaf(

; LISTED-NEXT:   ret i32 %x
define internal i32 @leaf(i32 %x) {
  ret i32 %x
}

; CHECK-LABEL: define i32 @exact(
; CHECK:         %[[FRAME:.*]] = ptrtoint ptr %{{.*}} to i64
; CHECK:         %[[ABOVE:.*]] = add i64 %[[FRAME]], 1
; CHECK-NEXT:    %[[AT:.*]] = getelementptr inbounds i8, ptr %midflight.node, i64 32
; CHECK-NEXT:    store atomic i64 %[[ABOVE]], ptr %[[AT]] monotonic, align 8
; CHECK-NEXT:    %[[SLOT:.*]] = getelementptr inbounds i8, ptr %midflight.node, i64 64
; CHECK-NEXT:    store atomic ptr %[[SLOT]], ptr @midflight_context_word monotonic, align 8
; CHECK-NEXT:    %r = tail call i32 @leaf(i32 %x)
; CHECK-NEXT:    ret i32 %r
; Who is left out by the list does not put it back.
; LISTED-LABEL: define i32 @exact(
; LISTED:        store atomic i64 %{{.*}}, ptr %midflight.node monotonic
; LISTED-NEXT:   %r = tail call i32 @leaf(
; LISTED-NEXT:   ret i32 %r
; CODE-LABEL: exact:
; CODE:         jmp{{.*}} leaf
define i32 @exact(i32 %x) {
  %r = tail call i32 @leaf(i32 %x)
  ret i32 %r
}

; CHECK-LABEL: define i32 @must(
; CHECK:         %[[ABOVE:.*]] = add i64 %{{.*}}, 1
; CHECK:         store atomic i64 %[[ABOVE]]
; CHECK:         store atomic ptr %{{.*}}, ptr @midflight_context_word monotonic
; CHECK-NEXT:    %r = musttail call i32 @leaf(i32 %x)
; CHECK-NEXT:    ret i32 %r
define i32 @must(i32 %x) {
  %r = musttail call i32 @leaf(i32 %x)
  ret i32 %r
}

; Nothing has changed the word.
; CHECK-LABEL: define void @unknown(
; CHECK:         store atomic i64 %{{.*}}, ptr %midflight.node monotonic
; CHECK-NEXT:    tail call void @f()
; CHECK-NEXT:    ret void
define void @unknown() {
  tail call void @f()
  ret void
}

; CHECK-LABEL: define i32 @unknown_later(
; CHECK:         getelementptr inbounds i8, ptr %midflight.node, i64 64
; CHECK:         call void @f()
; CHECK-NEXT:    %[[BACK:.*]] = getelementptr inbounds i8, ptr %midflight.node, i64 16
; CHECK-NEXT:    %[[WAS:.*]] = load atomic ptr, ptr %[[BACK]] monotonic, align 8
; CHECK-NEXT:    store atomic ptr %[[WAS]], ptr @midflight_context_word monotonic, align 8
; CHECK-NEXT:    %r = musttail call i32 %p(i32 %x, ptr %p)
; CHECK-NEXT:    ret i32 %r
define i32 @unknown_later(i32 %x, ptr %p) {
  call void @f()
  %r = musttail call i32 %p(i32 %x, ptr %p)
  ret i32 %r
}

; What may be replaced when it is linked, or is left alone, is unknown.
; CHECK-LABEL: define weak i32 @replaceable(
; CHECK-LABEL: define i32 @of_replaceable(
; CHECK:         store atomic i64 %{{.*}}, ptr %midflight.node monotonic
; CHECK-NEXT:    %r = tail call i32 @replaceable(
; CHECK-NEXT:    ret i32 %r
; CHECK-LABEL: define i32 @of_quiet(
; CHECK:         store atomic i64 %{{.*}}, ptr %midflight.node monotonic
; CHECK-NEXT:    %r = tail call i32 @quiet(
; CHECK-NEXT:    ret i32 %r
define weak i32 @replaceable(i32 %x) {
  ret i32 %x
}
define i32 @of_replaceable(i32 %x) {
  %r = tail call i32 @replaceable(i32 %x)
  ret i32 %r
}
define i32 @of_quiet(i32 %x) {
  %r = tail call i32 @quiet(i32 %x)
  ret i32 %r
}
define internal i32 @quiet(i32 %x) noprofile {
  ret i32 %x
}

; Not in tail position: it is not marked, another value is returned, or something comes behind it.
; CHECK-LABEL: define i32 @ordinary(
; CHECK:         getelementptr inbounds i8, ptr %midflight.node, i64 64
; CHECK:         %a = call i32 @leaf(
; CHECK-NEXT:    getelementptr inbounds i8, ptr %midflight.node, i64 16
; CHECK:         ret i32 %a
; CHECK:       {{^}}other:
; CHECK:         getelementptr inbounds i8, ptr %midflight.node, i64 72
; CHECK:         %b = tail call i32 @leaf(
; CHECK-NEXT:    getelementptr inbounds i8, ptr %midflight.node, i64 16
; CHECK:         ret i32 %x
; CHECK:       {{^}}third:
; CHECK:         getelementptr inbounds i8, ptr %midflight.node, i64 80
; CHECK:         %d = tail call i32 @leaf(
; CHECK-NEXT:    %e = add i32 %d, 1
; CHECK-NEXT:    getelementptr inbounds i8, ptr %midflight.node, i64 16
; CHECK:         ret i32 %e
define i32 @ordinary(i32 %x, i32 %way) {
  switch i32 %way, label %first [ i32 1, label %other i32 2, label %third ]
first:
  %a = call i32 @leaf(i32 %x)
  ret i32 %a
other:
  %b = tail call i32 @leaf(i32 %x)
  ret i32 %x
third:
  %d = tail call i32 @leaf(i32 %x)
  %e = add i32 %d, 1
  ret i32 %e
}

; Markers between the call and the return do nothing.
; CHECK-LABEL: define void @marked(
; CHECK:         store atomic i64 %{{.*}}, ptr %midflight.node monotonic
; CHECK-NEXT:    tail call void @f()
; CHECK-NEXT:    call void @llvm.assume(i1 true)
; CHECK-NEXT:    ret void
define void @marked() {
  tail call void @f()
  call void @llvm.assume(i1 true)
  ret void
}
declare void @llvm.assume(i1)
