/* Destructors of pthread keys that run instrumented code, to the last round of them. */
#include "emitted.h"
#include <limits.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 100 };

FUNCTION(body, 1, 4, 10, 0);
FUNCTION(destroy, 2, 4, 10, 0);
FUNCTION(late, 3, 4, 10, 0);

static pthread_key_t key;

static void late(void)
{
    ENTER(late);
    PATH(late, 1);
}

static void destroy(void *round)
{
    intptr_t number = (intptr_t)round;
    ENTER(destroy);
    PATH(destroy, 1);
    PATH(destroy, 2);
    if (number < PTHREAD_DESTRUCTOR_ITERATIONS)
        pthread_setspecific(key, (void *)(number + 1));
    else
        late(); /* entered for the first time in the last round */
}

static void *body(void *unused)
{
    (void)unused;
    ENTER(body);
    PATH(body, 1);
    pthread_setspecific(key, (void *)1);
    return NULL;
}

int main(void)
{
    if (pthread_key_create(&key, destroy))
        return 1;
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, body, NULL))
            return 1;
        pthread_join(thread, NULL);
    }
    printf("%d\n", PTHREAD_DESTRUCTOR_ITERATIONS);
    return 0;
}
