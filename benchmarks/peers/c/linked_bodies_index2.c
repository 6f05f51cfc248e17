/* Linked bodies at index 2: y = (x1, p1, x2, p2, v1, Omega1, v2, Omega2, lambda), F(y, yd) = 0 and its Jacobian

       xdot - v,  pdot - p o (0, Omega) / 2,  m vdot - f +- lambda,  J Omegadot + Omega x J Omega +- rho x R^T lambda,
       v1 + R1 (Omega1 x rho1) - v2 - R2 (Omega2 x rho2). */
/* vectors of three numbers, half in vector registers, wait for their stores: slower than scalars by a third */
#pragma GCC optimize("no-tree-vectorize")

#include "numbers.h"
#include "peers.h"
#include <string.h>

enum { X1 = 0, P1 = 3, X2 = 7, P2 = 10, V1 = 14, O1 = 17, V2 = 20, O2 = 23, LA = 26, N = 29 };

static const double J1[3] = {FIRST_J1, FIRST_J2, FIRST_J3}, J2[3] = {SECOND_J1, SECOND_J2, SECOND_J3};
static const double RHO1[3] = {FIRST_RHO1, FIRST_RHO2, FIRST_RHO3}, RHO2[3] = {SECOND_RHO1, SECOND_RHO2, SECOND_RHO3};

/* Rows of one body's rotation; `g` gets sign R (Omega x rho) added. */
static inline void rotate(const double* p, const double* om, const double* pd, const double* od, const double* la,
                          const double* J, const double* rho, double sign, double* rows_p, double* rows_o, double* g) {
    double r1[3], r2[3], r3[3], rate[4], w[3], f[3], torque[3];
    columns(p, r1, r2, r3);
    euler_rate(p, om, rate);
    for (int i = 0; i < 4; i++) rows_p[i] = pd[i] - rate[i];
    cross(om, rho, w);
    for (int i = 0; i < 3; i++) g[i] += sign * (r1[i] * w[0] + r2[i] * w[1] + r3[i] * w[2]);
    f[0] = dot(r1, la), f[1] = dot(r2, la), f[2] = dot(r3, la);
    cross(rho, f, torque);
    rows_o[0] = J[0] * od[0] + (J[2] - J[1]) * (om[1] * om[2]) + sign * torque[0];
    rows_o[1] = J[1] * od[1] + (J[0] - J[2]) * (om[2] * om[0]) + sign * torque[1];
    rows_o[2] = J[2] * od[2] + (J[1] - J[0]) * (om[0] * om[1]) + sign * torque[2];
}

int linked_bodies_residual(void* context, double t, const double* y, const double* yd, double c, double* out) {
    double g[3];
    (void)context, (void)t, (void)c;
    for (int i = 0; i < 3; i++) {
        out[X1 + i] = yd[X1 + i] - y[V1 + i];
        out[X2 + i] = yd[X2 + i] - y[V2 + i];
        out[V1 + i] = FIRST_MASS * yd[V1 + i] + STIFFNESS * y[X1 + i] + y[LA + i];
        out[V2 + i] = SECOND_MASS * yd[V2 + i] - y[LA + i];
        g[i] = y[V1 + i] - y[V2 + i];
    }
    rotate(y + P1, y + O1, yd + P1, yd + O1, y + LA, J1, RHO1, 1.0, out + P1, out + O1, g);
    rotate(y + P2, y + O2, yd + P2, yd + O2, y + LA, J2, RHO2, -1.0, out + P2, out + O2, g);
    for (int i = 0; i < 3; i++) out[LA + i] = g[i];
    return 0;
}

/* D = d(R(p) w)/dp, 3 x 4: R(p) w = (p0^2 - u.u) w + 2 (u.w) u + 2 p0 u x w */
static inline void turned(const double* p, const double* w, double D[3][4]) {
    const double a = p[1] * w[0] + p[2] * w[1] + p[3] * w[2];
    const double s0 = p[0] * w[0] + p[2] * w[2] - p[3] * w[1];
    const double s1 = p[0] * w[1] + p[3] * w[0] - p[1] * w[2];
    const double s2 = p[0] * w[2] + p[1] * w[1] - p[2] * w[0];
    D[0][0] = 2.0 * s0, D[1][0] = 2.0 * s1, D[2][0] = 2.0 * s2;
    D[0][1] = 2.0 * a, D[1][1] = -2.0 * s2, D[2][1] = 2.0 * s1;
    D[0][2] = 2.0 * s2, D[1][2] = 2.0 * a, D[2][2] = -2.0 * s0;
    D[0][3] = -2.0 * s1, D[1][3] = 2.0 * s0, D[2][3] = 2.0 * a;
}

/* Where the entry (i, j) goes: `down` from row to row, `along` from column to column. */
#define AT(i, j) out[(i) * down + (j) * along]

static inline void rotate_tangent(const double* p, const double* om, const double* la, double c, const double* J,
                                  const double* rho, double sign, int P, int O, int down, int along, double* out) {
    double r1[3], r2[3], r3[3], w[3], D[3][4], T[3][4];
    const double conjugate[4] = {p[0], -p[1], -p[2], -p[3]};
    for (int i = 0; i < 4; i++) AT(P + i, P + i) = c;
    const double a = 0.5 * om[0], b = 0.5 * om[1], d = 0.5 * om[2];
    AT(P, P + 1) = a, AT(P, P + 2) = b, AT(P, P + 3) = d;
    AT(P + 1, P) = -a, AT(P + 1, P + 2) = -d, AT(P + 1, P + 3) = b;
    AT(P + 2, P) = -b, AT(P + 2, P + 1) = d, AT(P + 2, P + 3) = -a;
    AT(P + 3, P) = -d, AT(P + 3, P + 1) = -b, AT(P + 3, P + 2) = a;
    const double h0 = 0.5 * p[0], h1 = 0.5 * p[1], h2 = 0.5 * p[2], h3 = 0.5 * p[3];
    AT(P, O) = h1, AT(P, O + 1) = h2, AT(P, O + 2) = h3;
    AT(P + 1, O) = -h0, AT(P + 1, O + 1) = h3, AT(P + 1, O + 2) = -h2;
    AT(P + 2, O) = -h3, AT(P + 2, O + 1) = -h0, AT(P + 2, O + 2) = h1;
    AT(P + 3, O) = h2, AT(P + 3, O + 1) = -h1, AT(P + 3, O + 2) = -h0;

    columns(p, r1, r2, r3);
    const double s1 = sign * rho[0], s2 = sign * rho[1], s3 = sign * rho[2];
    for (int i = 0; i < 3; i++) { /* -sign R [rho x] in the constraint, and its transpose: rho x R^T la */
        AT(LA + i, O) = AT(O, LA + i) = s2 * r3[i] - s3 * r2[i];
        AT(LA + i, O + 1) = AT(O + 1, LA + i) = s3 * r1[i] - s1 * r3[i];
        AT(LA + i, O + 2) = AT(O + 2, LA + i) = s1 * r2[i] - s2 * r1[i];
    }
    cross(om, rho, w);
    turned(p, w, D);
    turned(conjugate, la, T); /* d(R^T la)/d(p0, -u) */
    for (int j = 0; j < 4; j++) {
        const double f = j ? -1.0 : 1.0, t0 = f * T[0][j], t1 = f * T[1][j], t2 = f * T[2][j];
        AT(O, P + j) = s2 * t2 - s3 * t1;
        AT(O + 1, P + j) = s3 * t0 - s1 * t2;
        AT(O + 2, P + j) = s1 * t1 - s2 * t0;
        for (int i = 0; i < 3; i++) AT(LA + i, P + j) = sign * D[i][j];
    }
    AT(O, O) = c * J[0], AT(O, O + 1) = (J[2] - J[1]) * om[2], AT(O, O + 2) = (J[2] - J[1]) * om[1];
    AT(O + 1, O) = (J[0] - J[2]) * om[2], AT(O + 1, O + 1) = c * J[1], AT(O + 1, O + 2) = (J[0] - J[2]) * om[0];
    AT(O + 2, O) = (J[1] - J[0]) * om[1], AT(O + 2, O + 1) = (J[1] - J[0]) * om[0], AT(O + 2, O + 2) = c * J[2];
}

/* dF/dy + c dF/dyd: what is not 0 */
static inline void tangent(const double* y, double c, int down, int along, double* out) {
    for (int i = 0; i < 3; i++) {
        AT(X1 + i, X1 + i) = AT(X2 + i, X2 + i) = c;
        AT(X1 + i, V1 + i) = AT(X2 + i, V2 + i) = -1.0;
        AT(V1 + i, V1 + i) = c * FIRST_MASS;
        AT(V2 + i, V2 + i) = c * SECOND_MASS;
        AT(V1 + i, X1 + i) = STIFFNESS;
        AT(V1 + i, LA + i) = AT(LA + i, V1 + i) = 1.0;
        AT(V2 + i, LA + i) = AT(LA + i, V2 + i) = -1.0;
    }
    rotate_tangent(y + P1, y + O1, y + LA, c, J1, RHO1, 1.0, P1, O1, down, along, out);
    rotate_tangent(y + P2, y + O2, y + LA, c, J2, RHO2, -1.0, P2, O2, down, along, out);
}

/* 29 x 29 by rows, complete */
int linked_bodies_jacobian(void* context, double t, const double* y, const double* yd, double c, double* out) {
    (void)context, (void)t, (void)yd;
    memset(out, 0, N * N * sizeof(double));
    tangent(y, c, N, 1, out);
    return 0;
}

/* 29 x 29 by columns, what is not 0 alone: SUNDIALS clears its matrices itself. */
int linked_bodies_jacobian_entries(void* context, double t, const double* y, const double* yd, double c, double* out) {
    (void)context, (void)t, (void)yd;
    tangent(y, c, 1, N, out);
    return 0;
}
