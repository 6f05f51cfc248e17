/* The heavy top on its fixed point: y = (p, Omega), Euler parameters and the angular velocity in the body. */
#include "numbers.h"
#include "peers.h"

/* J Omegadot = J Omega x Omega + rho x R^T (m g), rho along d3, J diagonal */
int heavy_top(void* context, double t, const double* y, const double* yd, double c, double* out) {
    const double p0 = y[0], p1 = y[1], p2 = y[2], p3 = y[3], o1 = y[4], o2 = y[5], o3 = y[6];
    const double a = 0.5 * o1, b = 0.5 * o2, d = 0.5 * o3;
    (void)context, (void)t, (void)yd, (void)c;
    out[0] = -p1 * a - p2 * b - p3 * d;
    out[1] = p0 * a - p3 * b + p2 * d;
    out[2] = p3 * a + p0 * b - p1 * d;
    out[3] = -p2 * a + p1 * b + p0 * d;
    out[4] = (TOP_J2 - TOP_J3) / TOP_J1 * (o2 * o3) + 2.0 * TOP_WEIGHT * TOP_LENGTH / TOP_J1 * (p2 * p3 + p0 * p1);
    out[5] = (TOP_J3 - TOP_J1) / TOP_J2 * (o3 * o1) - 2.0 * TOP_WEIGHT * TOP_LENGTH / TOP_J2 * (p1 * p3 - p0 * p2);
    out[6] = (TOP_J1 - TOP_J2) / TOP_J3 * (o1 * o2);
    return 0;
}
