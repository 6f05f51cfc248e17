/* Two bodies with a spherical joint, the first one held by a spring: y = (x1, p1, x2, p2, v1, Omega1, v2, Omega2). */
/* vectors of three numbers, half in vector registers, wait for their stores: slower than scalars by a third */
#pragma GCC optimize("no-tree-vectorize")

#include "numbers.h"
#include "peers.h"

typedef struct {
    double z1[3], z2[3], z3[3]; /* columns of R [rho x] */
    double free[3];             /* Omegadot without the joint */
    double point[3];            /* R (Omega x (Omega x rho) + free x rho): the point's acceleration without vdot */
} Body;

static inline void body(const double* p, const double* om, const double* J, const double* rho, Body* b) {
    double r1[3], r2[3], r3[3], w[3], u[3];
    columns(p, r1, r2, r3);
    for (int i = 0; i < 3; i++) {
        b->z1[i] = rho[2] * r2[i] - rho[1] * r3[i];
        b->z2[i] = rho[0] * r3[i] - rho[2] * r1[i];
        b->z3[i] = rho[1] * r1[i] - rho[0] * r2[i];
    }
    b->free[0] = (J[1] - J[2]) / J[0] * (om[1] * om[2]);
    b->free[1] = (J[2] - J[0]) / J[1] * (om[2] * om[0]);
    b->free[2] = (J[0] - J[1]) / J[2] * (om[0] * om[1]);
    cross(om, rho, w);
    cross(om, w, u);
    cross(b->free, rho, w);
    for (int i = 0; i < 3; i++) u[i] += w[i];
    for (int i = 0; i < 3; i++) b->point[i] = r1[i] * u[0] + r2[i] * u[1] + r3[i] * u[2];
}

/* S += R [rho x] J^-1 [rho x]^T R^T, S = (11, 21, 22, 31, 32, 33) */
static inline void add_compliance(const Body* b, const double* J, double* s) {
    int k = 0;
    double u1[3], u2[3], u3[3];
    for (int i = 0; i < 3; i++) {
        u1[i] = b->z1[i] * (1.0 / J[0]);
        u2[i] = b->z2[i] * (1.0 / J[1]);
        u3[i] = b->z3[i] * (1.0 / J[2]);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) s[k++] += u1[i] * b->z1[j] + u2[i] * b->z2[j] + u3[i] * b->z3[j];
}

/* Index 0: S lambda = the relative acceleration of the joint's points without the joint, S = G M^-1 G^T. */
int linked_bodies(void* context, double t, const double* y, const double* yd, double c, double* out) {
    static const double J1[3] = {FIRST_J1, FIRST_J2, FIRST_J3}, J2[3] = {SECOND_J1, SECOND_J2, SECOND_J3};
    static const double rho1[3] = {FIRST_RHO1, FIRST_RHO2, FIRST_RHO3};
    static const double rho2[3] = {SECOND_RHO1, SECOND_RHO2, SECOND_RHO3};
    const double share = 1.0 / FIRST_MASS + 1.0 / SECOND_MASS;
    double s[6] = {share, 0.0, share, 0.0, 0.0, share}, inverse[6], gamma[3], la[3], held[3];
    Body a, b;
    (void)context, (void)t, (void)yd, (void)c;
    body(y + 3, y + 17, J1, rho1, &a);
    body(y + 10, y + 23, J2, rho2, &b);
    add_compliance(&a, J1, s);
    add_compliance(&b, J2, s);
    for (int i = 0; i < 3; i++) {
        held[i] = -(STIFFNESS / FIRST_MASS) * y[i];
        gamma[i] = held[i] + a.point[i] - b.point[i];
    }
    const double scale = 1.0 / adjoint(s, inverse);
    symmetric_times(inverse, gamma, la);
    for (int i = 0; i < 3; i++) la[i] *= scale;
    for (int i = 0; i < 3; i++) {
        out[i] = y[14 + i];
        out[7 + i] = y[20 + i];
        out[14 + i] = held[i] - la[i] * (1.0 / FIRST_MASS);
        out[20 + i] = la[i] * (1.0 / SECOND_MASS);
    }
    euler_rate(y + 3, y + 17, out + 3);
    euler_rate(y + 10, y + 23, out + 10);
    /* the joint's force acts at rho: the torque rho x R^T f = -(R [rho x])^T f ... with its transpose's sign */
    out[17] = a.free[0] + dot(a.z1, la) * (1.0 / FIRST_J1);
    out[18] = a.free[1] + dot(a.z2, la) * (1.0 / FIRST_J2);
    out[19] = a.free[2] + dot(a.z3, la) * (1.0 / FIRST_J3);
    out[23] = b.free[0] - dot(b.z1, la) * (1.0 / SECOND_J1);
    out[24] = b.free[1] - dot(b.z2, la) * (1.0 / SECOND_J2);
    out[25] = b.free[2] - dot(b.z3, la) * (1.0 / SECOND_J3);
    return 0;
}
