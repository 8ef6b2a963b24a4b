/* What emitted code calls in the place of libc's functions. */
#ifndef ASKED_H
#define ASKED_H

#include <signal.h>
#include <unistd.h>

#ifndef PLAIN
int midflight_sigaction(int, const struct sigaction *, struct sigaction *);
void (*midflight_signal(int, void (*)(int)))(int);
void (*midflight_sysv_signal(int, void (*)(int)))(int);
void (*midflight_sigset(int, void (*)(int)))(int);
int midflight_sigaltstack(const stack_t *, stack_t *);
int midflight_daemon(int, int);
#define sigaction(...) midflight_sigaction(__VA_ARGS__)
#define signal(...) midflight_signal(__VA_ARGS__)
#define sysv_signal(...) midflight_sysv_signal(__VA_ARGS__)
#define sigset(...) midflight_sigset(__VA_ARGS__)
#define sigaltstack(...) midflight_sigaltstack(__VA_ARGS__)
#define daemon(...) midflight_daemon(__VA_ARGS__)
#endif

#endif
