/* The public structures are what the compiler fills in. */
#include "midflight.h"
#include <stddef.h>

#define AT(type, field, offset) _Static_assert(offsetof(struct type, field) == (offset), #field)

_Static_assert(sizeof(struct midflight_osr_value) == 24, "size");
AT(midflight_osr_value, name, 0);
AT(midflight_osr_value, address, 8);
AT(midflight_osr_value, kind, 16);
AT(midflight_osr_value, bits, 20);

_Static_assert(sizeof(struct midflight_osr_exit) == 48, "size");
AT(midflight_osr_exit, version, 0);
AT(midflight_osr_exit, count, 4);
AT(midflight_osr_exit, function, 8);
AT(midflight_osr_exit, point, 16);
AT(midflight_osr_exit, values, 24);
AT(midflight_osr_exit, result, 32);
AT(midflight_osr_exit, result_kind, 40);
AT(midflight_osr_exit, result_bits, 44);

_Static_assert(MIDFLIGHT_OSR_VERSION == 1, "version");
_Static_assert(MIDFLIGHT_OSR_INTEGER == 0 && MIDFLIGHT_OSR_FLOAT == 1, "kinds");
_Static_assert(MIDFLIGHT_OSR_POINTER == 2 && MIDFLIGHT_OSR_OTHER == 3, "kinds");

#ifdef MIDFLIGHT_OSR
static const char *marked;

void midflight_osr_point_here(const char *name)
{
    marked = name;
}
#endif

int main(void)
{
    MIDFLIGHT_OSR_POINT("here");
#ifdef MIDFLIGHT_OSR
    return marked && marked[0] == 'h' ? 0 : 1;
#else
    return midflight_osr_arm || midflight_osr_disarm || midflight_osr_count ? 2 : 0;
#endif
}
