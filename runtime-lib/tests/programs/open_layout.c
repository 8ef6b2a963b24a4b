/* Prints how the structures of open.h are laid out. */
#include "open.h"
#include <stdio.h>

int main(void)
{
    size_t numbers[] = {sizeof(struct made),
                        sizeof(struct code),
                        sizeof(struct site),
                        sizeof(struct body),
                        sizeof(struct request),
                        sizeof(struct answer),
                        offsetof(struct site, version),
                        offsetof(struct request, body),
                        offsetof(struct request, key_number),
                        offsetof(struct request, left),
                        offsetof(struct answer, entry),
                        offsetof(struct answer, message)};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        printf("%zu ", numbers[i]);
    return 0;
}
