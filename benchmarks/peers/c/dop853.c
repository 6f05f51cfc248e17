/* Dormand's and Prince's method of order 8 from t to t_end, step by step as Hairer's dop853: errors of orders 5 and 3
   together; without dense output and the test for stiffness. */
#include "one_step.h"
#include "tableaus.h"

#define K(s) k[(s) - 1][i]
#define STAGE(s, theta)                                                              \
    for (int i = 0; i < n; i++) stage[i] = y[i] + h * DOP853_STAGE_##s(K);           \
    if (f(context, t + (theta) * h, stage, 0, 0.0, k[(s) - 1])) return CALLBACK_FAILED

int dop853(Function f, void* context, int n, double t, double t_end, double* restrict y, double rtol, double atol,
           long most_steps, double* restrict work, Counts* counts) {
    const double power = 0.125, safe = 0.9, slowest = 1.0 / 0.333, fastest = 1.0 / 6.0;
    double* k[12];
    double* restrict stage = work + 12 * n;
    int last = 0, rejected = 0;
    for (int s = 0; s < 12; s++) k[s] = work + s * n;
    *counts = (Counts){0, 0, 2};
    if (f(context, t, y, 0, 0.0, k[0])) return CALLBACK_FAILED;
    double h = first_step(f, context, n, t, y, k[0], 8, t_end - t, rtol, atol, stage, k[1]);
    while (counts->steps + counts->rejected < most_steps) {
        if (0.1 * h <= fabs(t) * 2.3e-16 || !(h > 0.0)) return STEP_TOO_SMALL;
        if (t + 1.01 * h > t_end) h = t_end - t, last = 1;
        STAGE(2, DOP853_C2);
        STAGE(3, DOP853_C3);
        STAGE(4, DOP853_C4);
        STAGE(5, DOP853_C5);
        STAGE(6, DOP853_C6);
        STAGE(7, DOP853_C7);
        STAGE(8, DOP853_C8);
        STAGE(9, DOP853_C9);
        STAGE(10, DOP853_C10);
        STAGE(11, DOP853_C11);
        STAGE(12, 1.0);
        counts->calls += 11;
        double e5 = 0.0, e3 = 0.0;
        for (int i = 0; i < n; i++) {
            stage[i] = y[i] + h * DOP853_SUM(K);
            const double s = 1.0 / scale_of(y[i], stage[i], rtol, atol);
            const double a = DOP853_ERROR5(K) * s, b = DOP853_ERROR3(K) * s;
            e5 += a * a;
            e3 += b * b;
        }
        const double sum = e5 + 0.01 * e3, error = h * e5 * sqrt(1.0 / (n * (sum > 0.0 ? sum : 1.0)));
        const double raised = pow(error, power);
        double factor = fmax(fastest, fmin(slowest, raised / safe));
        if (error <= 1.0) {
            counts->steps++;
            t += h;
            for (int i = 0; i < n; i++) y[i] = stage[i];
            if (last) return DONE;
            if (f(context, t, y, 0, 0.0, k[0])) return CALLBACK_FAILED;
            counts->calls++;
            if (rejected && factor < 1.0) factor = 1.0;
            h /= factor;
            rejected = 0;
        } else {
            h /= fmin(slowest, raised / safe);
            counts->rejected++;
            rejected = 1, last = 0;
        }
    }
    return TOO_MANY_STEPS;
}
