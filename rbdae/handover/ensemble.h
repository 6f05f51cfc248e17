/* Many runs of one model at once: DOPRI5 with a step size for each run, as rbdae:dopri5 chooses it. A thread whose run
   has ended takes the next one. N, U, P are the numbers of unknowns, inputs and parameters. For g++ -O2 -std=c++14 (with
   -fopenmp on all cores), nvcc -x cu -O3, and NVRTC; -DREAL=float for single precision. */

#ifndef __CUDACC_RTC__
#include <math.h>
#endif
#ifndef REAL
#define REAL double
#endif
typedef REAL real;
#define R(x) ((real)(x))
#ifdef __CUDACC__
#define BLOCK 128
#define DEVICE static __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define TAKE(next) atomicAdd(next, 1ull)
#else
#define DEVICE static inline
#define UNROLL
#define TAKE(next) __atomic_fetch_add(next, 1ull, __ATOMIC_RELAXED)
#endif

/* 0, or the number of the guard that does not hold. */
DEVICE int rhs(real t, const real *y, const real *u, const real *p, real *out);

/* What n runs have in common. Starts are arrays (N, n), (U, n), (P, n); ends are (N, n), (n), (4, n). */
struct Ensemble {
    long long n;
    const real *y0, *u, *p;
    real *y, *t;
    int *info; /* code, reason, accepted steps, rejected ones */
    const real *atol; /* (N) */
    real t0, t1, rtol, first_step; /* 0 for Hairer's first step */
    int max_steps;
};

struct Run {
    real y[N], u[U ? U : 1], p[P ? P : 1], k[STAGES][N], t, h, old_error;
    int code, reason, steps, rejected, after_rejection;
};

DEVICE bool finite(const real *v) {
    real sum = 0;
    UNROLL for (int j = 0; j < N; j++) sum += R(0) * v[j];
    return sum == R(0);
}

/* 0, or why there are no rates: the number of a guard, or -1 where an argument is not finite. */
DEVICE int rates(const Run &r, real t, const real *y, real *out) {
    const int guard = rhs(t, y, r.u, r.p, out);
    return guard == 0 ? 0 : finite(y) ? guard : -1;
}

DEVICE void stop(Run &r, int reason, int otherwise) {
    r.code = (r.reason = reason) == 0 ? otherwise : reason > 0 ? GUARD : NOT_FINITE;
}

/* Hairer's first step: one of Euler shows how fast the rates change. */
DEVICE void first_step(Run &r, const Ensemble &e) {
    real x[N], dnf = 0, dny = 0, der2 = 0;
    UNROLL for (int j = 0; j < N; j++) {
        const real scale = e.atol[j] + e.rtol * fabs(r.y[j]), f = r.k[0][j] / scale, y = r.y[j] / scale;
        dnf += f * f;
        dny += y * y;
    }
    const real h = fmin(dnf > R(FLAT) && dny > R(FLAT) ? sqrt(dny / dnf) * R(0.01) : R(TINY), e.t1 - e.t0);
    UNROLL for (int j = 0; j < N; j++) x[j] = r.y[j] + h * r.k[0][j];
    r.h = R(TINY);
    if (rates(r, r.t + h, x, r.k[1])) return;
    UNROLL for (int j = 0; j < N; j++) {
        const real d = (r.k[1][j] - r.k[0][j]) / (e.atol[j] + e.rtol * fabs(r.y[j]));
        der2 += d * d;
    }
    const real der12 = fmax(sqrt(der2) / h, sqrt(dnf));
    const real h1 = der12 > R(LINEAR) ? pow(R(0.01) / der12, R(1.0 / ORDER)) : fmax(R(TINY), h * R(1e-3));
    r.h = R(0) * der2 == R(0) ? fmin(fmin(R(100) * h, h1), e.t1 - e.t0) : h;
}

DEVICE void begin(Run &r, const Ensemble &e, long long i) {
    UNROLL for (int j = 0; j < N; j++) r.y[j] = e.y0[j * e.n + i];
    UNROLL for (int j = 0; j < U; j++) r.u[j] = e.u[j * e.n + i];
    UNROLL for (int j = 0; j < P; j++) r.p[j] = e.p[j * e.n + i];
    r.t = e.t0, r.h = e.first_step, r.old_error = R(LEAST_ERROR);
    r.code = r.reason = r.steps = r.rejected = r.after_rejection = 0;
    int reason = rates(r, r.t, r.y, r.k[0]);
    if (reason == 0 && !(finite(r.y) && finite(r.k[0]))) reason = -1;
    if (reason) stop(r, reason, 0);
    else if (r.h == R(0)) first_step(r, e);
}

DEVICE void reject(Run &r, real h, int reason) {
    r.h = h, r.rejected++, r.after_rejection = 1;
    if (reason) r.reason = reason;
}

/* Row s of the tableau: the rates after c h. */
#define STAGE(s, c, ...) \
    { \
        const real a[] = {__VA_ARGS__}; \
        UNROLL for (int j = 0; j < N; j++) { \
            real sum = 0; \
            UNROLL for (int m = 0; m < s; m++) sum += a[m] * r.k[m][j]; \
            x[j] = r.y[j] + h * sum; \
        } \
        if (const int reason = rates(r, r.t + c * h, x, r.k[s])) return reject(r, h / R(SHRINKS), reason); \
    }

/* Try a step: the run goes on from its end, or with a shorter one, or has ended. */
DEVICE void attempt(Run &r, const Ensemble &e) {
    const real rounding = sizeof(real) == 4 ? R(1.2e-7) : R(UROUND), length = e.t1 - e.t0;
    if (r.steps >= e.max_steps) return stop(r, 0, TOO_MANY);
    if (!(R(0.1) * r.h > rounding * fmax(fabs(r.t), length))) return stop(r, r.reason, TOO_SMALL);
    const bool last = r.t + R(1.01) * r.h > e.t1;
    const real h = last ? e.t1 - r.t : r.h, error[] = {ERROR};
    real x[N], total = 0;
    TABLEAU
    UNROLL for (int j = 0; j < N; j++) {
        real sum = 0;
        UNROLL for (int m = 0; m < STAGES; m++) sum += error[m] * r.k[m][j];
        sum *= h / (e.atol[j] + e.rtol * fmax(fabs(r.y[j]), fabs(x[j])));
        total += sum * sum + R(0) * x[j];
    }
    const real err = sqrt(total / N);
    if (!(R(0) * err == R(0))) return reject(r, h / R(SHRINKS), -1);
    const real factor = pow(err, R(EXPONENT));
    if (err > R(1)) return reject(r, h / fmin(R(SHRINKS), factor / R(SAFETY)), 0);
    const real divisor = fmin(R(SHRINKS), factor / pow(r.old_error, R(BETA)) / R(SAFETY));
    r.h = fmin(h / fmax(R(GROWS), divisor), r.after_rejection ? fmin(h, length) : length);
    r.old_error = fmax(err, R(LEAST_ERROR));
    r.t = last ? e.t1 : r.t + h;
    r.steps++, r.reason = r.after_rejection = 0;
    UNROLL for (int j = 0; j < N; j++) r.y[j] = x[j], r.k[0][j] = r.k[STAGES - 1][j];
    if (last) r.code = ENDED;
}

DEVICE void end(const Run &r, const Ensemble &e, long long i) {
    UNROLL for (int j = 0; j < N; j++) e.y[j * e.n + i] = r.y[j];
    e.t[i] = r.t;
    const int info[] = {r.code, r.reason, r.steps, r.rejected};
    for (int j = 0; j < 4; j++) e.info[j * e.n + i] = info[j];
}

/* One loop, not one in another: threads that run together would wait where the inner one ends. */
DEVICE void thread(const Ensemble &e, unsigned long long *next) {
    Run r = {};
    r.code = ENDED;
    for (long long i = -1;;) {
        if (r.code) {
            if (i >= 0) end(r, e, i);
            if ((i = (long long)TAKE(next)) >= e.n) return;
            begin(r, e, i);
        }
        if (!r.code) attempt(r, e);
    }
}

#ifdef __CUDACC__
/* Pointers are the device's; `next` is 0 before. */
extern "C" __global__ void __launch_bounds__(BLOCK) runs(Ensemble e, unsigned long long *next) { thread(e, next); }
#endif

#ifndef __CUDACC_RTC__
#ifdef __CUDACC__
struct Memory {
    void *at = nullptr;
    Memory(const void *from, size_t size) {
        if (cudaMalloc(&at, size ? size : 1) == cudaSuccess && from) cudaMemcpy(at, from, size, cudaMemcpyHostToDevice);
    }
    ~Memory() { cudaFree(at); }
};
#endif
/* All runs, with arrays of the host: 0, or CUDA's error, or -1 where t1 is not after t0. */
extern "C" int ensemble(const Ensemble *e) {
    if (!(e->t1 > e->t0)) return -1;
    unsigned long long next = 0;
#ifdef __CUDACC__
    const size_t row = e->n * sizeof(real), codes = 4 * e->n * sizeof(int);
    const Memory y0(e->y0, N * row), u(e->u, U * row), p(e->p, P * row), atol(e->atol, N * sizeof(real));
    const Memory y(nullptr, N * row), t(nullptr, row), info(nullptr, codes), taken(&next, sizeof next);
    int device, processors;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (const int error = cudaGetLastError()) return error;
    const Ensemble there = {e->n, (real *)y0.at, (real *)u.at, (real *)p.at, (real *)y.at, (real *)t.at, (int *)info.at,
                            (real *)atol.at, e->t0, e->t1, e->rtol, e->first_step, e->max_steps};
    runs<<<processors * (2048 / BLOCK), BLOCK>>>(there, (unsigned long long *)taken.at);
    cudaMemcpy(e->y, y.at, N * row, cudaMemcpyDeviceToHost);
    cudaMemcpy(e->t, t.at, row, cudaMemcpyDeviceToHost);
    cudaMemcpy(e->info, info.at, codes, cudaMemcpyDeviceToHost);
    return cudaGetLastError();
#else
#ifdef _OPENMP
#pragma omp parallel
#endif
    thread(*e, &next);
    return 0;
#endif
}
#endif
