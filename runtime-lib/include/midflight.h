/* What an instrumented program can ask of the runtime that it is linked with.
 *
 * The functions are weak, so that the same source also links without the runtime:
 *
 *     if (midflight_profile_write)
 *         midflight_profile_write(NULL);
 */
#ifndef MIDFLIGHT_H
#define MIDFLIGHT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the profile as it is now, to `path` or, if that is NULL, to where MIDFLIGHT_PROFILE says.
 * The file is replaced as a whole. Counting goes on, and the profile that is written when the
 * program ends has these counts too.
 *
 * Returns 0; or an error number, after one line on standard error. Nothing is written, and 0
 * returned, where nothing is instrumented. Do not call it in a child made by vfork. */
int midflight_profile_write(const char *path) __attribute__((weak));

/* Sets all counters to zero, so that a phase of the program can be profiled on its own. Activations
 * that are under way go on from where they are. What other threads count at this moment may survive. */
void midflight_profile_reset(void) __attribute__((weak));

#ifdef __cplusplus
}
#endif

#endif
