/* On-stack replacement for compilers and JITs that use llvm-c: the API of the Rust crate
 * midflight-passes (modules osr::insert and osr::state_map) as C functions of libmidflight.so.
 *
 * Link libmidflight.so of the LLVM that the program uses, and that LLVM. References are llvm-c's.
 * Functions with a `message` store a text there when they fail, to be freed with
 * midflight_osr_free_text; `message` may be NULL. Example: lit-tests/osr/Inputs/c-api.c. */
#ifndef MIDFLIGHT_OSR_API_H
#define MIDFLIGHT_OSR_API_H

#include <llvm-c/Types.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the state of one function becomes that of another (thesis Def. 4.15; OSRKit's StateMap). */
typedef struct midflight_state_map midflight_state_map;

/* A point that was inserted. */
typedef struct midflight_osr_point midflight_osr_point;

/* Compensation code: builds instructions at the builder's position. `needs` are the values that
 * were asked for. */
typedef LLVMValueRef midflight_osr_compute(void *user, LLVMBuilderRef builder,
                                           const LLVMValueRef *needs, size_t count);
typedef void midflight_osr_effect(void *user, LLVMBuilderRef builder, const LLVMValueRef *needs,
                                  size_t count);

/* A map in which nothing corresponds yet, or NULL if one of the two is no function with a body; the
 * identity to an exact copy; first `first`, then `second`; the way back, without compensation
 * code. */
midflight_state_map *midflight_state_map_create(LLVMValueRef from, LLVMValueRef to);
midflight_state_map *midflight_state_map_identity(LLVMValueRef from, LLVMValueRef copy,
                                                  char **message);
midflight_state_map *midflight_state_map_compose(const midflight_state_map *first,
                                                 const midflight_state_map *second,
                                                 char **message);
midflight_state_map *midflight_state_map_inverse(const midflight_state_map *map);
void midflight_state_map_dispose(midflight_state_map *map);

/* Two values are the same, the first of the source and the second of the destination: 0, or 1 with
 * a message. */
int midflight_state_map_values(midflight_state_map *map, LLVMValueRef from, LLVMValueRef to,
                               char **message);

/* Execution that leaves the source before `point` goes on before `landing`. */
void midflight_state_map_landing(midflight_state_map *map, LLVMValueRef point,
                                 LLVMValueRef landing);

/* Code that computes a value of the destination at transitions from `point`; and code that runs
 * before all other at such transitions. They are called when the point is inserted. What is wrong
 * with a landing or with code is the message of midflight_osr_insert_resolved. */
void midflight_state_map_compensate(midflight_state_map *map, LLVMValueRef point,
                                    LLVMValueRef value, const LLVMValueRef *needs, size_t count,
                                    midflight_osr_compute *compute, void *user);
void midflight_state_map_prologue(midflight_state_map *map, LLVMValueRef point,
                                  const LLVMValueRef *needs, size_t count,
                                  midflight_osr_effect *effect, void *user);

/* The values live before an instruction: writes at most `room`, returns how many there are, or -1
 * if the place is no point. */
ptrdiff_t midflight_osr_live_values(LLVMValueRef before, LLVMValueRef *to, size_t room);

/* Inserts a point before an instruction, which leads to a continuation of the map's destination.
 * `condition` is always, never, count:N, every:N, flag or patch. NULL with a message if there can
 * be none; then nothing was inserted. */
midflight_osr_point *midflight_osr_insert_resolved(LLVMValueRef before, const char *name,
                                                   const char *condition,
                                                   const midflight_state_map *map, char **message);
LLVMValueRef midflight_osr_continuation(const midflight_osr_point *point);

/* Inserts a point before an instruction, at which the running program asks for a version that
 * `generator` (inline-callee, specialize-value or reoptimize) makes for the value that `key` has
 * then: an integer or a pointer that is live there, or NULL for one that the generator chooses. 0,
 * or 1 with a message if there can be none. */
int midflight_osr_insert_open(LLVMValueRef before, const char *name, const char *condition,
                              const char *generator, LLVMValueRef key, char **message);

/* The address of a flag point's flag, a constant of the module: an i32 that arms the point while it
 * is not 0, which code that is generated may set by a relaxed atomic store. NULL for other
 * points. */
LLVMValueRef midflight_osr_point_flag(const midflight_osr_point *point);

/* For a module that a JIT compiles: adds a function to it which tells the runtime of its points,
 * after the last one was inserted. The host gives the function's address to
 * midflight_osr_register_code, see midflight.h. NULL with a message if the name is taken or the
 * module has such a function. */
LLVMValueRef midflight_osr_emit_registration(LLVMModuleRef module, const char *name,
                                             char **message);

/* Takes the point out of its function; or frees the handle and leaves the point. */
void midflight_osr_remove(midflight_osr_point *point);
void midflight_osr_release(midflight_osr_point *point);

void midflight_osr_free_text(char *text);

#ifdef __cplusplus
}
#endif

#endif
