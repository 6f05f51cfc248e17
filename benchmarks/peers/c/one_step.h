/* What DOPRI5 and DOP853 share, as in Hairer's codes: tolerances, the first step, the end of the interval. */
#ifndef ONE_STEP_H
#define ONE_STEP_H

#include "peers.h"

typedef struct {
    long steps, rejected, calls;
} Counts;

enum { DONE = 0, TOO_MANY_STEPS = 1, STEP_TOO_SMALL = 2, CALLBACK_FAILED = 3 };

static inline double scale_of(double a, double b, double rtol, double atol) {
    a = fabs(a), b = fabs(b);
    return atol + rtol * (a > b ? a : b);
}

/* hinit of the codes; two evaluations' worth of norms, one evaluation. `y1` and `f1` are scratch. */
static inline double first_step(Function f, void* context, int n, double t, const double* y, const double* f0, int order,
                                double most, double rtol, double atol, double* y1, double* f1) {
    double nf = 0.0, ny = 0.0, second = 0.0;
    for (int i = 0; i < n; i++) {
        const double s = 1.0 / (atol + rtol * fabs(y[i]));
        nf += (f0[i] * s) * (f0[i] * s);
        ny += (y[i] * s) * (y[i] * s);
    }
    double h = nf <= 1e-10 || ny <= 1e-10 ? 1e-6 : 0.01 * sqrt(ny / nf);
    if (h > most) h = most;
    for (int i = 0; i < n; i++) y1[i] = y[i] + h * f0[i];
    if (f(context, t + h, y1, 0, 0.0, f1)) return 0.0;
    for (int i = 0; i < n; i++) {
        const double s = (f1[i] - f0[i]) / (atol + rtol * fabs(y[i]));
        second += s * s;
    }
    second = sqrt(second) / h;
    const double slope = sqrt(nf), larger = second > slope ? second : slope;
    const double h1 = larger <= 1e-15 ? fmax(1e-6, h * 1e-3) : pow(0.01 / larger, 1.0 / order);
    return fmin(fmin(100.0 * h, h1), most);
}

#endif
