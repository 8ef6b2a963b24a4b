/* N-body: the outer planets around the sun, by a symplectic integrator. Small regular loops. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BODIES = 5 };
#define SUN (4 * 3.141592653589793 * 3.141592653589793)
#define YEAR 365.24

struct body {
    double at[3], speed[3], mass;
};

/* Sun, Jupiter, Saturn, Uranus, Neptune: places in AU, speeds in AU a year. */
static struct body bodies[BODIES] = {
    {{0, 0, 0}, {0, 0, 0}, SUN},
    {{4.84143144246472090, -1.16032004402742839, -0.103622044471123109},
     {0.00166007664274403694 * YEAR, 0.00769901118419740425 * YEAR, -0.0000690460016972063 * YEAR},
     0.000954791938424326609 * SUN},
    {{8.34336671824457987, 4.12479856412430479, -0.403523417114321381},
     {-0.00276742510726411108 * YEAR, 0.00499852801234917238 * YEAR, 0.0000230417297573763 * YEAR},
     0.000285885980666130812 * SUN},
    {{12.8943695621391310, -15.1111514016986312, -0.223307578892655734},
     {0.00296460137564761618 * YEAR, 0.00237847173959480950 * YEAR, -0.0000296589568540238 * YEAR},
     0.0000436624404335156298 * SUN},
    {{15.3796971148509165, -25.9193146099879641, 0.179258772950371181},
     {0.00268067772490389322 * YEAR, 0.00162824170038242295 * YEAR, -0.0000951592254519716 * YEAR},
     0.0000515138902046611451 * SUN},
};

static void attract(struct body *a, struct body *b, double step) {
    double d[3], square = 0;
    for (int i = 0; i < 3; i++) {
        d[i] = a->at[i] - b->at[i];
        square += d[i] * d[i];
    }
    double pull = step / (square * sqrt(square));
    for (int i = 0; i < 3; i++) {
        a->speed[i] -= d[i] * b->mass * pull;
        b->speed[i] += d[i] * a->mass * pull;
    }
}

static void advance(double step) {
    for (int i = 0; i < BODIES; i++)
        for (int j = i + 1; j < BODIES; j++)
            attract(&bodies[i], &bodies[j], step);
    for (int i = 0; i < BODIES; i++)
        for (int axis = 0; axis < 3; axis++)
            bodies[i].at[axis] += step * bodies[i].speed[axis];
}

static double energy(void) {
    double sum = 0;
    for (int i = 0; i < BODIES; i++) {
        for (int axis = 0; axis < 3; axis++)
            sum += 0.5 * bodies[i].mass * bodies[i].speed[axis] * bodies[i].speed[axis];
        for (int j = i + 1; j < BODIES; j++) {
            double square = 0;
            for (int axis = 0; axis < 3; axis++) {
                double d = bodies[i].at[axis] - bodies[j].at[axis];
                square += d * d;
            }
            sum -= bodies[i].mass * bodies[j].mass / sqrt(square);
        }
    }
    return sum;
}

/* The sun takes the opposite of the planets' momentum, so that the system stays in place. */
static void balance(void) {
    for (int axis = 0; axis < 3; axis++) {
        double momentum = 0;
        for (int i = 1; i < BODIES; i++)
            momentum += bodies[i].speed[axis] * bodies[i].mass;
        bodies[0].speed[axis] = -momentum / SUN;
    }
}

int main(int argc, char **argv) {
    long steps = argc > 1 ? atol(argv[1]) : 1000;
    balance();
    printf("energy before %.6f\n", energy());
    for (long i = 0; i < steps; i++)
        advance(0.01);
    printf("energy after  %.6f\n", energy());
    return 0;
}
