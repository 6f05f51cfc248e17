/* What all files share: the signature of a model's function, the rotation of Euler parameters, small solves. */
#ifndef PEERS_H
#define PEERS_H

#include <math.h>

/* Returns 0 when `out` is complete; other values end a run. Functions that do not need yd or c do not read them. */
typedef int (*Function)(void* context, double t, const double* y, const double* yd, double c, double* out);

/* The columns of R(p), without |p| = 1: what rbdae and the papers take. */
static inline void columns(const double* p, double* r1, double* r2, double* r3) {
    const double p00 = p[0] * p[0], p11 = p[1] * p[1], p22 = p[2] * p[2], p33 = p[3] * p[3];
    const double p01 = p[0] * p[1], p02 = p[0] * p[2], p03 = p[0] * p[3];
    const double p12 = p[1] * p[2], p13 = p[1] * p[3], p23 = p[2] * p[3];
    r1[0] = p00 + p11 - p22 - p33;
    r1[1] = 2.0 * (p12 + p03);
    r1[2] = 2.0 * (p13 - p02);
    r2[0] = 2.0 * (p12 - p03);
    r2[1] = p00 - p11 + p22 - p33;
    r2[2] = 2.0 * (p23 + p01);
    r3[0] = 2.0 * (p13 + p02);
    r3[1] = 2.0 * (p23 - p01);
    r3[2] = p00 - p11 - p22 + p33;
}

/* pdot = p o (0, Omega) / 2 */
static inline void euler_rate(const double* p, const double* om, double* pd) {
    const double a = 0.5 * om[0], b = 0.5 * om[1], c = 0.5 * om[2];
    pd[0] = -p[1] * a - p[2] * b - p[3] * c;
    pd[1] = p[0] * a - p[3] * b + p[2] * c;
    pd[2] = p[3] * a + p[0] * b - p[1] * c;
    pd[3] = -p[2] * a + p[1] * b + p[0] * c;
}

static inline void cross(const double* a, const double* b, double* out) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline double dot(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* The adjoint of the symmetric S = (11, 21, 22, 31, 32, 33), in the same order; returns det S. */
static inline double adjoint(const double* s, double* a) {
    a[0] = s[2] * s[5] - s[4] * s[4];
    a[1] = s[4] * s[3] - s[1] * s[5];
    a[2] = s[0] * s[5] - s[3] * s[3];
    a[3] = s[1] * s[4] - s[2] * s[3];
    a[4] = s[1] * s[3] - s[0] * s[4];
    a[5] = s[0] * s[2] - s[1] * s[1];
    return s[0] * a[0] + s[1] * a[1] + s[3] * a[3];
}

/* S x, S as above */
static inline void symmetric_times(const double* s, const double* x, double* out) {
    const double a = s[0] * x[0] + s[1] * x[1] + s[3] * x[2];
    const double b = s[1] * x[0] + s[2] * x[1] + s[4] * x[2];
    const double c = s[3] * x[0] + s[4] * x[1] + s[5] * x[2];
    out[0] = a;
    out[1] = b;
    out[2] = c;
}

#endif
