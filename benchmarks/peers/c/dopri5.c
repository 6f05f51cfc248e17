/* Dormand's and Prince's method of order 5 from t to t_end, step by step as Hairer's dopri5: PI control with
   beta = 0.04, error of order 4; without dense output and the test for stiffness. */
#include "one_step.h"
#include "tableaus.h"

#define K(s) k##s[i]
#define STAGE(s, theta)                                                              \
    for (int i = 0; i < n; i++) stage[i] = y[i] + h * DOPRI5_STAGE_##s(K);           \
    if (f(context, t + (theta) * h, stage, 0, 0.0, k##s)) return CALLBACK_FAILED

int dopri5(Function f, void* context, int n, double t, double t_end, double* restrict y, double rtol, double atol,
           long most_steps, double* restrict work, Counts* counts) {
    const double beta = 0.04, power = 0.2 - 0.75 * beta, safe = 0.9;
    double *restrict k1 = work, *restrict k2 = work + n, *restrict k3 = work + 2 * n, *restrict k4 = work + 3 * n;
    double *restrict k5 = work + 4 * n, *restrict k6 = work + 5 * n, *restrict k7 = work + 6 * n;
    double *restrict stage = work + 7 * n, before = 1e-4;
    int last = 0, rejected = 0;
    *counts = (Counts){0, 0, 2};
    if (f(context, t, y, 0, 0.0, k1)) return CALLBACK_FAILED;
    double h = first_step(f, context, n, t, y, k1, 5, t_end - t, rtol, atol, stage, k2);
    while (counts->steps + counts->rejected < most_steps) {
        if (0.1 * h <= fabs(t) * 2.3e-16 || !(h > 0.0)) return STEP_TOO_SMALL;
        if (t + 1.01 * h > t_end) h = t_end - t, last = 1;
        STAGE(2, DOPRI5_C2);
        STAGE(3, DOPRI5_C3);
        STAGE(4, DOPRI5_C4);
        STAGE(5, DOPRI5_C5);
        STAGE(6, 1.0);
        STAGE(7, 1.0);
        counts->calls += 6;
        double error = 0.0;
        for (int i = 0; i < n; i++) {
            const double e = h * DOPRI5_ERROR(K) / scale_of(y[i], stage[i], rtol, atol);
            error += e * e;
        }
        error = sqrt(error / n);
        const double raised = pow(error, power);
        if (error <= 1.0) {
            double factor = fmax(0.1, fmin(5.0, raised / pow(before, beta) / safe));
            before = fmax(error, 1e-4);
            counts->steps++;
            t += h;
            for (int i = 0; i < n; i++) y[i] = stage[i];
            for (int i = 0; i < n; i++) k1[i] = k7[i];
            if (last) return DONE;
            if (rejected && factor < 1.0) factor = 1.0;
            h /= factor;
            rejected = 0;
        } else {
            h /= fmin(5.0, raised / safe);
            counts->rejected++;
            rejected = 1, last = 0;
        }
    }
    return TOO_MANY_STEPS;
}
