/* Steps of QUAT.EM-R ([BS09] (51), Rodrigues parameters of the increment) of the heavy top, y = (q, p) in every row
   with p = 2 q o (0, J Omega). The unknown is b = h Omega_mean / 2. With x = J b, y0 = h J Omega0 / 2, the direction g
   of the weight in the frame of the start and the mean a of d3 there, (I - b^) a = e3, the balance seen from half of
   the rotation is

       2 (x - y0 + b x x) + c (a x g - (b . g) a + b3 g) = 0,    c = h^2 m g l / 2. */
#include "numbers.h"
#include "peers.h"

#define EXACT 1e-11
#define NOISE 1e-10
enum { MOST = 30 };

static const double J[3] = {TOP_J1, TOP_J2, TOP_J3};

/* One Newton iteration: b becomes better; returns the size of the correction or of what the balance lacked. */
static inline double iterate(const double* restrict y0, const double* restrict g, double c, double* restrict b) {
    const double x[3] = {J[0] * b[0], J[1] * b[1], J[2] * b[2]};
    const double t = 1.0 / (1.0 + dot(b, b)), bg = dot(b, g);
    const double a[3] = {t * (b[1] + b[2] * b[0]), t * (b[2] * b[1] - b[0]), t * (1.0 + b[2] * b[2])};
    double bx[3], ag[3], r[3], D[3][3];
    cross(b, x, bx);
    cross(a, g, ag);
    for (int i = 0; i < 3; i++) r[i] = 2.0 * (x[i] - y0[i] + bx[i]) + c * (ag[i] - bg * a[i] + b[2] * g[i]);
    const double e[3][3] = {{0.0, -a[2], a[1]}, {a[2], 0.0, -a[0]}, {-a[1], a[0], 0.0}}; /* e_j x a by rows j */
    const double B[3][3] = {{0.0, b[2], -b[1]}, {-b[2], 0.0, b[0]}, {b[1], -b[0], 0.0}}; /* b x e_j by rows j */
    for (int j = 0; j < 3; j++) {
        double v[3], da[3], dag[3];
        cross(b, e[j], v);
        const double be = dot(b, e[j]);
        for (int i = 0; i < 3; i++) da[i] = t * (e[j][i] + v[i] + be * b[i]);
        cross(da, g, dag);
        for (int i = 0; i < 3; i++) D[i][j] = 2.0 * J[j] * B[j][i] + c * (dag[i] - bg * da[i] - g[j] * a[i]);
        D[j][j] += 2.0 * J[j];
    }
    for (int i = 0; i < 3; i++) D[i][2] += c * g[i];
    D[0][1] += 2.0 * x[2], D[1][0] -= 2.0 * x[2];
    D[0][2] -= 2.0 * x[1], D[2][0] += 2.0 * x[1];
    D[1][2] += 2.0 * x[0], D[2][1] -= 2.0 * x[0];
    const double m0 = D[1][1] * D[2][2] - D[1][2] * D[2][1], m1 = D[1][2] * D[2][0] - D[1][0] * D[2][2];
    const double m2 = D[1][0] * D[2][1] - D[1][1] * D[2][0];
    const double d = -1.0 / (D[0][0] * m0 + D[0][1] * m1 + D[0][2] * m2);
    const double s[3] = {
        d * (m0 * r[0] + (D[0][2] * D[2][1] - D[0][1] * D[2][2]) * r[1] + (D[0][1] * D[1][2] - D[0][2] * D[1][1]) * r[2]),
        d * (m1 * r[0] + (D[0][0] * D[2][2] - D[0][2] * D[2][0]) * r[1] + (D[0][2] * D[1][0] - D[0][0] * D[1][2]) * r[2]),
        d * (m2 * r[0] + (D[0][1] * D[2][0] - D[0][0] * D[2][1]) * r[1] + (D[0][0] * D[1][1] - D[0][1] * D[1][0]) * r[2])};
    double change = 0.0, size = 1e-300, lacking = 0.0;
    for (int i = 0; i < 3; i++) {
        size += 4.0 * J[i] * (b[i] * b[i] + NOISE);
        lacking += r[i] * r[i] * (1.0 / J[i]);
        change += 4.0 * J[i] * s[i] * s[i];
        b[i] += s[i];
    }
    return sqrt((change > lacking ? change : lacking) / size);
}

/* n steps of size h; `rows` gets the start and the state after each step. Returns the iterations, or -1. */
long heavy_top_steps(const double* restrict start, double h, long n, double tolerance, double* restrict rows) {
    double q[4], y[3], b[3]; /* y = J Omega */
    long done = 0;
    for (int i = 0; i < 8; i++) rows[i] = start[i];
    for (int i = 0; i < 4; i++) q[i] = start[i];
    const double* p = start + 4;
    y[0] = 0.5 * (q[0] * p[1] - q[1] * p[0] - q[2] * p[3] + q[3] * p[2]);
    y[1] = 0.5 * (q[0] * p[2] - q[2] * p[0] - q[3] * p[1] + q[1] * p[3]);
    y[2] = 0.5 * (q[0] * p[3] - q[3] * p[0] - q[1] * p[2] + q[2] * p[1]);
    for (int i = 0; i < 3; i++) b[i] = 0.5 * h * y[i] / J[i];
    for (long step = 1; step <= n; step++) {
        const double y0[3] = {0.5 * h * y[0], 0.5 * h * y[1], 0.5 * h * y[2]};
        const double g[3] = {2.0 * (q[1] * q[3] - q[0] * q[2]), 2.0 * (q[2] * q[3] + q[0] * q[1]),
                             q[0] * q[0] - q[1] * q[1] - q[2] * q[2] + q[3] * q[3]};
        const double c = 0.5 * h * h * TOP_WEIGHT * TOP_LENGTH;
        double before = 0.0;
        int k = 0;
        for (;; k++) {
            if (k == MOST) return -1;
            const double size = iterate(y0, g, c, b);
            done++;
            if (size <= tolerance) {
                if (k == 0) before = size;
                if (size * size <= EXACT * before) break;
            }
            before = size;
        }
        for (int i = 0; i < 3; i++) y[i] = 2.0 * ((2.0 * J[i] * b[i] - y0[i]) / h);
        const double e[4] = {q[0] - q[1] * b[0] - q[2] * b[1] - q[3] * b[2], q[1] + q[0] * b[0] + q[2] * b[2] - q[3] * b[1],
                             q[2] + q[0] * b[1] + q[3] * b[0] - q[1] * b[2], q[3] + q[0] * b[2] + q[1] * b[1] - q[2] * b[0]};
        const double f = 1.0 / sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]);
        for (int i = 0; i < 4; i++) q[i] = f * e[i];
        double* row = rows + 8 * step;
        for (int i = 0; i < 4; i++) row[i] = q[i];
        row[4] = 2.0 * (-q[1] * y[0] - q[2] * y[1] - q[3] * y[2]);
        row[5] = 2.0 * (q[0] * y[0] + q[2] * y[2] - q[3] * y[1]);
        row[6] = 2.0 * (q[0] * y[1] + q[3] * y[0] - q[1] * y[2]);
        row[7] = 2.0 * (q[0] * y[2] + q[1] * y[1] - q[2] * y[0]);
    }
    return done;
}
