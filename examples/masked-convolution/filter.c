/* Blurs the regions of a picture that a mask chooses, as to make faces unrecognizable: the case study
 * of the thesis's 6.1.1. Where the mask is white (255) a pixel is copied, where it is black (0) it is
 * computed of the 25 pixels around it.
 *
 * -DBY_EIGHT makes the version that the profile leads to: eight pixels at a time where the mask has
 * eight equal ones.
 *
 *     filter [ROUNDS]      prints a checksum of the blurred picture
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 3114, HEIGHT = 2376, BORDER = 2, FACES = 24 };

typedef struct {
    const uint8_t *in;
    uint8_t *out;
    const uint8_t *mask;
    const int8_t *kernel;
    double factor, bias;
} Job;

static inline uint8_t blurred(const Job *job, long at)
{
    int sum = 0;
    const int8_t *weight = job->kernel;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++)
            sum += *weight++ * job->in[at + dy * WIDTH + dx];
    int value = (int)(sum * job->factor + job->bias);
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static inline void filter_each(const Job *job, long from, long to)
{
    for (long at = from; at < to; at++)
        if (job->mask[at])
            job->out[at] = job->in[at];
        else
            job->out[at] = blurred(job, at);
}

#ifdef BY_EIGHT

__attribute__((noinline)) static void filter(const Job *job, long pixels)
{
    long at = 0;
    for (; at + 8 <= pixels; at += 8) {
        uint64_t mask;
        memcpy(&mask, job->mask + at, sizeof mask);
        if (mask == UINT64_MAX)
            memcpy(job->out + at, job->in + at, sizeof mask);
        else if (mask == 0)
            for (long i = at; i < at + 8; i++)
                job->out[i] = blurred(job, i);
        else
            filter_each(job, at, at + 8);
    }
    filter_each(job, at, pixels);
}

#else

__attribute__((noinline)) static void filter(const Job *job, long pixels)
{
    filter_each(job, 0, pixels);
}

#endif

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* White but for round regions, and white along the border, so that no pixel needs a neighbour that is
 * not there. */
static void paint_mask(uint8_t *mask)
{
    uint32_t seed = 7;
    memset(mask, 255, (size_t)WIDTH * HEIGHT);
    for (int face = 0; face < FACES; face++) {
        long radius = 70 + next_random(&seed) % 90;
        long x0 = next_random(&seed) % WIDTH, y0 = next_random(&seed) % HEIGHT;
        for (long y = y0 - radius; y <= y0 + radius; y++)
            for (long x = x0 - radius; x <= x0 + radius; x++) {
                int inside = (x - x0) * (x - x0) + (y - y0) * (y - y0) <= radius * radius;
                if (inside && x >= BORDER && y >= BORDER && x < WIDTH - BORDER && y < HEIGHT - BORDER)
                    mask[y * WIDTH + x] = 0;
            }
    }
}

int main(int argc, char **argv)
{
    static const int8_t kernel[25] = {1, 2, 3, 2, 1, 2, 4, 6, 4, 2, 3, 6, 9,
                                      6, 3, 2, 4, 6, 4, 2, 1, 2, 3, 2, 1};
    long pixels = (long)WIDTH * HEIGHT;
    uint8_t *in = malloc(pixels), *out = malloc(pixels), *mask = malloc(pixels);
    if (!in || !out || !mask)
        return 1;
    uint32_t seed = 1;
    for (long i = 0; i < pixels; i++)
        in[i] = (uint8_t)next_random(&seed);
    paint_mask(mask);
    Job job = {in, out, mask, kernel, 1.0 / 81, 0.0};
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < rounds; i++)
        filter(&job, pixels);
    uint32_t sum = 0;
    for (long i = 0; i < pixels; i++)
        sum = sum * 31 + out[i];
    printf("%08x\n", sum);
    return 0;
}
