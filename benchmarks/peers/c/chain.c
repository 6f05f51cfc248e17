/* A chain of n equal round rods on spherical joints: y = (x1, p1, x2, p2, ...; v1, Omega1, v2, Omega2, ...).

   Index 0. Joint k is between the links k - 1 and k; its multipliers obey the block-tridiagonal system

       E_(k-1) la_(k-1) + (B_(k-1) + B_k) la_k + E_k la_(k+1) = gamma_k,
       E_k = e_k I - s_k s_k^T,  B_k = (e_k + 2 / m) I - s_k s_k^T,  s_k = a d1 / sqrt(J2),  e_k = a^2 |p|^4 / J2 - 1 / m,

   with half a link's length a along d1, since d2 d2^T + d3 d3^T = |p|^4 I - d1 d1^T. It is eliminated from both ends at
   once: two independent recurrences keep the processor busy where one would wait for itself. */
/* vectors of three numbers, half in vector registers, wait for their stores: slower than scalars by a third */
#pragma GCC optimize("no-tree-vectorize")

#include "numbers.h"
#include "peers.h"
#include <stdlib.h>

typedef struct {
    double r1[3], r2[3], r3[3]; /* d1, d2, d3 */
    double e, s[3];
    double w[3];    /* acceleration of the far end, without vdot and joints: the near end has its negative */
    double y[9];    /* X E: la_k = z - y la of the neighbour that is solved before */
    double z[3];    /* X gamma, X the inverse of the joint's matrix after elimination */
    double la[3];
} Link;

typedef struct {
    int n;
    Link links[];
} Chain;

void* chain_new(int n) {
    Chain* chain = calloc(1, sizeof(Chain) + (size_t)n * sizeof(Link));
    if (chain) chain->n = n;
    return chain;
}

void chain_free(void* chain) { free(chain); }

static const double HALF = 0.5 * LINK_LENGTH, SHARE = 1.0 / LINK_MASS;
static const double SPIN = LINK_J1 / LINK_J2, BETA = 1.0 - LINK_J1 / LINK_J2;

/* What a joint has from one of its links: B and the acceleration of the link's end. */
static inline void add(const Link* l, double* a, double* g) {
    const double d = l->e + 2.0 * SHARE;
    a[0] += d - l->s[0] * l->s[0];
    a[1] -= l->s[0] * l->s[1];
    a[2] += d - l->s[1] * l->s[1];
    a[3] -= l->s[0] * l->s[2];
    a[4] -= l->s[1] * l->s[2];
    a[5] += d - l->s[2] * l->s[2];
    for (int i = 0; i < 3; i++) g[i] += l->w[i];
}

/* Eliminates the joint with the matrix a and the right-hand side g, `at` its link, through the link `over` to the next
   joint: a and g become what that one has from this side, B - E X E and w - E X g. */
static inline void eliminate(Link* at, const Link* over, double* a, double* g) {
    const double *s = over->s, e = over->e;
    double X[6], h[3], u[3];
    const double scale = 1.0 / adjoint(a, X);
    for (int i = 0; i < 6; i++) X[i] *= scale;
    symmetric_times(X, s, h);
    symmetric_times(X, g, at->z);
    const double half = 0.5 * dot(s, h), along = dot(s, at->z);
    for (int i = 0; i < 3; i++) u[i] = e * h[i] - half * s[i];
    for (int i = 0; i < 3; i++) g[i] = over->w[i] + along * s[i] - e * at->z[i];
    const double e2 = e * e, d = e + 2.0 * SHARE;
    a[0] = d - s[0] * s[0] - e2 * X[0] + 2.0 * u[0] * s[0];
    a[1] = -s[0] * s[1] - e2 * X[1] + u[1] * s[0] + u[0] * s[1];
    a[2] = d - s[1] * s[1] - e2 * X[2] + 2.0 * u[1] * s[1];
    a[3] = -s[0] * s[2] - e2 * X[3] + u[2] * s[0] + u[0] * s[2];
    a[4] = -s[1] * s[2] - e2 * X[4] + u[2] * s[1] + u[1] * s[2];
    a[5] = d - s[2] * s[2] - e2 * X[5] + 2.0 * u[2] * s[2];
    const double full[9] = {X[0], X[1], X[3], X[1], X[2], X[4], X[3], X[4], X[5]};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) at->y[3 * i + j] = e * full[3 * i + j] - h[i] * s[j];
}

static inline void substitute(Link* at, const double* la) {
    for (int i = 0; i < 3; i++)
        at->la[i] = at->z[i] - (at->y[3 * i] * la[0] + at->y[3 * i + 1] * la[1] + at->y[3 * i + 2] * la[2]);
}

static void place(int n, const double* q, const double* v, Link* links) {
    const double root = HALF * sqrt(1.0 / LINK_J2), stiff = HALF * HALF / LINK_J2;
    for (int k = 0; k < n; k++) {
        const double *p = q + 7 * k + 3, *om = v + 6 * k + 3;
        Link* l = links + k;
        columns(p, l->r1, l->r2, l->r3);
        const double norm = p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3];
        const double c1 = -HALF * (om[1] * om[1] + om[2] * om[2]);
        const double c2 = HALF * SPIN * (om[0] * om[1]), c3 = HALF * SPIN * (om[0] * om[2]);
        l->e = stiff * (norm * norm) - SHARE;
        for (int i = 0; i < 3; i++) {
            l->s[i] = root * l->r1[i];
            l->w[i] = c1 * l->r1[i] + c2 * l->r2[i] + c3 * l->r3[i];
        }
    }
}

static void solve(int n, Link* links) {
    const int middle = n / 2, back = n - 1 - middle, most = middle > back ? middle : back;
    double a[6] = {0.0}, g[3] = {0.0, 0.0, LINK_GRAVITY}, b[6] = {0.0}, h[3] = {0.0}, X[6];
    Link* m = links + middle;
    add(links + n - 1, b, h);
    for (int k = 0; k < most; k++) {
        if (k < middle) {
            add(links + k, a, g);
            eliminate(links + k, links + k, a, g);
        }
        if (k < back) {
            Link* over = links + n - 2 - k;
            add(over, b, h);
            eliminate(over + 1, over, b, h);
        }
    }
    for (int i = 0; i < 6; i++) a[i] += b[i];
    for (int i = 0; i < 3; i++) g[i] += h[i];
    const double scale = 1.0 / adjoint(a, X);
    symmetric_times(X, g, m->la);
    for (int i = 0; i < 3; i++) m->la[i] *= scale;
    for (int k = 0; k < most; k++) {
        if (k < middle) substitute(m - k - 1, m[-k].la);
        if (k < back) substitute(m + k + 1, m[k].la);
    }
}

int chain(void* context, double t, const double* y, const double* yd, double c, double* out) {
    static const double none[3] = {0.0, 0.0, 0.0};
    Link* links = ((Chain*)context)->links;
    const int n = ((Chain*)context)->n;
    const double *v = y + 7 * n, turn = HALF / LINK_J2;
    double* vd = out + 7 * n;
    (void)t, (void)yd, (void)c;
    place(n, y, v, links);
    solve(n, links);
    for (int k = 0; k < n; k++) {
        const Link* l = links + k;
        const double *om = v + 6 * k + 3, *next = k + 1 < n ? l[1].la : none;
        double sum[3];
        for (int i = 0; i < 3; i++) {
            sum[i] = l->la[i] + next[i];
            out[7 * k + i] = v[6 * k + i];
            vd[6 * k + i] = SHARE * (l->la[i] - next[i]);
        }
        vd[6 * k + 2] -= LINK_GRAVITY;
        euler_rate(y + 7 * k + 3, om, out + 7 * k + 3);
        vd[6 * k + 3] = 0.0;
        vd[6 * k + 4] = BETA * (om[2] * om[0]) + turn * dot(l->r3, sum);
        vd[6 * k + 5] = -BETA * (om[0] * om[1]) - turn * dot(l->r2, sum);
    }
    return 0;
}
