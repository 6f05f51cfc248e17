/* What both versions of FMI (fmi-standard.org) need around a model in C (model.c); fmu2.c and fmu3.c include it. The
   value reference of a variable is its place in `x`: time, states, their rates, inputs, outputs, parameters, the
   tolerance of drift and of co-simulation. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model.c"

#pragma GCC diagnostic ignored "-Wunused-parameter" /* FMI has arguments that this model does not need */
#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif
#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
#define API(type, name) EXPORT type JOIN(PREFIX, FMI(name))
#define REFUSED(name, arguments) API(int, name) arguments { return ERROR; }

enum { OK, WARNING, DISCARD, ERROR };

enum {
    STATES = 1,
    RATES = STATES + model_N,
    INPUTS = RATES + model_N,
    OUTPUTS = INPUTS + FMU_INPUTS,
    PARAMETERS = OUTPUTS + FMU_OUTPUTS,
    TOLERANCE = PARAMETERS + FMU_PARAMETERS,
    VARIABLES
};

/* `step` is the next step size of co-simulation, 0 if none is known; `rates` and `outputs` say whether these belong to
   the rest of x. */
typedef struct {
    double x[VARIABLES], step;
    bool rates, outputs;
} State;

typedef void (*Any)(void);

typedef struct {
    State now;
    Any logger;
    void *environment;
    char name[];
} Model;

#define CATEGORY(status) ((status) == DISCARD ? "logStatusDiscard" : "logStatusError")

/* Tells the environment why a call has failed; returns the status. */
static int say(const Model *m, int status, const char *message);

static const char *const NO_RESULT =
    "a guard of the model does not hold here, or a rate is no number: take a shorter step, or formulate at this state";

static int reset(Model *m) {
    m->now = (State){{model_t0}, 0.0, false, false};
    memcpy(m->now.x + STATES, model_y0, model_N * sizeof(double));
    memcpy(m->now.x + INPUTS, fmu_u0, FMU_INPUTS * sizeof(double));
    memcpy(m->now.x + PARAMETERS, fmu_p0, FMU_PARAMETERS * sizeof(double));
    m->now.x[TOLERANCE] = 1e-8;
    return OK;
}

static Model *instantiate(const char *name, const char *token, Any logger, void *environment) {
    Model *m = strcmp(token, FMU_TOKEN) ? NULL : calloc(1, sizeof(Model) + strlen(name) + 1);
    if (!m) return NULL;
    m->logger = logger;
    m->environment = environment;
    strcpy(m->name, name);
    reset(m);
    return m;
}

/* f(t, y), or 1 where it means nothing. */
static int rates_at(const Model *m, double t, const double *y, double *out) {
    const double *x = m->now.x;
    if (model_rhs(t, y, x + INPUTS, x + PARAMETERS, out)) return 1;
    for (int i = 0; i < model_N; i++)
        if (!(fabs(out[i]) < HUGE_VAL)) return 1;
    return 0;
}

/* Whether y is off the constraints by more than the tolerance. */
static bool drifted(const Model *m, double t, const double *y) {
    const double *x = m->now.x;
    double g[2 * FMU_CONSTRAINTS + 1];
    return model_constraints(t, y, x + INPUTS, x + PARAMETERS, g) ||
           !(model_largest(2 * FMU_CONSTRAINTS, model_weights, g) <= x[TOLERANCE]);
}

/* y to the constraints, or 1 if these are not reached. */
static int onto(const Model *m, double t, double *y) {
    return model_project(t, y, m->now.x + INPUTS, m->now.x + PARAMETERS, 1e-14, 10);
}

static int evaluate(Model *m, bool rates, bool outputs) {
    double *x = m->now.x;
    if (rates && !m->now.rates && rates_at(m, x[0], x + STATES, x + RATES)) return say(m, DISCARD, NO_RESULT);
    m->now.rates |= rates;
    if (outputs && !m->now.outputs && fmu_outputs(x[0], x + STATES, x + INPUTS, x + PARAMETERS, x + OUTPUTS))
        return say(m, DISCARD, NO_RESULT);
    m->now.outputs |= outputs;
    return OK;
}

static int changed(Model *m) {
    m->now.rates = m->now.outputs = false;
    return OK;
}

/* In event mode: the state to the constraints. */
static int project(Model *m, Flag *moved) {
    const State before = m->now;
    if (!(*moved = drifted(m, before.x[0], before.x + STATES))) return OK;
    if (!onto(m, before.x[0], m->now.x + STATES)) return changed(m);
    m->now = before;
    return say(m, DISCARD, NO_RESULT);
}

static int set_time(Model *m, double t) {
    m->now.x[0] = t;
    return changed(m);
}

static int get(Model *m, const uint32_t *which, size_t n, double *values) {
    for (size_t i = 0; i < n; i++) {
        const uint32_t k = which[i];
        if (k >= VARIABLES) return say(m, ERROR, "there is no variable with this value reference");
        const int status = evaluate(m, k >= RATES && k < INPUTS, k >= OUTPUTS && k < PARAMETERS);
        if (status) return status;
        values[i] = m->now.x[k];
    }
    return OK;
}

static int set(Model *m, const uint32_t *which, size_t n, const double *values) {
    for (size_t i = 0; i < n; i++) {
        const uint32_t k = which[i];
        if (!k || (k >= RATES && k < INPUTS) || (k >= OUTPUTS && k < PARAMETERS) || k >= VARIABLES)
            return say(m, ERROR, "only states, inputs and parameters can be set");
        m->now.x[k] = values[i];
    }
    return changed(m);
}

/* Of rates and outputs, along a direction of time, states and inputs; the model has du after u. */
static int directional(const Model *m, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                       size_t n_knowns, const double *seed, double *out) {
    double d[VARIABLES] = {0.0}, u[2 * FMU_INPUTS + 1];
    const double *x = m->now.x, *p = x + PARAMETERS;
    bool rates = false, outputs = false;
    for (size_t i = 0; i < n_knowns; i++) {
        const uint32_t k = knowns[i];
        if (k >= RATES && (k < INPUTS || k >= OUTPUTS)) return say(m, ERROR, "knowns are time, states and inputs");
        d[k] = seed[i];
    }
    for (size_t i = 0; i < n_unknowns; i++) {
        const bool rate = unknowns[i] >= RATES && unknowns[i] < INPUTS;
        if (!rate && (unknowns[i] < OUTPUTS || unknowns[i] >= PARAMETERS))
            return say(m, ERROR, "unknowns are rates and outputs");
        rates |= rate;
        outputs |= !rate;
    }
    memcpy(u, x + INPUTS, FMU_INPUTS * sizeof(double));
    memcpy(u + FMU_INPUTS, d + INPUTS, FMU_INPUTS * sizeof(double));
    if ((rates && fmu_rhs_along(x[0], x + STATES, d + STATES, d[0], u, p, d + RATES)) ||
        (outputs && fmu_outputs_along(x[0], x + STATES, d + STATES, d[0], u, p, d + OUTPUTS)))
        return say(m, DISCARD, NO_RESULT);
    for (size_t i = 0; i < n_unknowns; i++) out[i] = d[unknowns[i]];
    return OK;
}

/* Steps of Dormand and Prince (J. Comput. Appl. Math. 6, 1980) of order 5 until a time, with constant inputs. The
   estimated error of a step is at most the tolerance, times 1 + |y|, in the mean; its end is projected if it has
   drifted. Where no step succeeds, the state is that from before. */
static int advance(Model *m, double end) {
    static const double c[7] = {0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0};
    static const double a[7][6] = {
        {0.0},
        {0.2},
        {3.0 / 40.0, 9.0 / 40.0},
        {44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0},
        {19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0},
        {9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0},
        {35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0},
    };
    static const double e[7] = {
        71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0};
    const State before = m->now;
    double k[7][model_N], y[model_N], *x = m->now.x, *old = x + STATES, h = m->now.step;
    int failed = rates_at(m, x[0], old, k[0]);
    if (!(h > 0.0)) h = 0.01 * (end - x[0]);
    while (!failed && x[0] < end) {
        const bool last = x[0] + 1.01 * h >= end;
        const double step = last ? end - x[0] : h;
        double error = 0.0;
        for (int i = 1; i < 7 && !failed; i++) {
            for (int j = 0; j < model_N; j++) {
                double sum = 0.0;
                for (int l = 0; l < i; l++) sum += a[i][l] * k[l][j];
                y[j] = old[j] + step * sum;
            }
            failed = rates_at(m, x[0] + c[i] * step, y, k[i]);
        }
        for (int j = 0; j < model_N && !failed; j++) {
            double sum = 0.0;
            for (int i = 0; i < 7; i++) sum += e[i] * k[i][j];
            sum *= step / (x[TOLERANCE] * (1.0 + fmax(fabs(old[j]), fabs(y[j]))));
            error += sum * sum / model_N;
        }
        const double t = x[0] + step;
        if (!failed && error <= 1.0 && drifted(m, t, y)) failed = onto(m, t, y) || rates_at(m, t, y, k[6]);
        const bool good = !failed && error <= 1.0;
        const double factor = failed ? 0.1 : fmin(5.0, fmax(0.2, 0.9 * pow(error, -0.1))); /* of its square */
        if (good) {
            x[0] = last ? end : x[0] + step;
            memcpy(old, y, sizeof y);
            memcpy(k[0], k[6], sizeof y);
        }
        h = good && last ? fmax(h, factor * step) : factor * step;
        failed = !(h > 1e-14 * fmax(1.0, fabs(x[0])));
    }
    if (failed) {
        m->now = before;
        return say(m, DISCARD, NO_RESULT);
    }
    m->now.step = h;
    return changed(m);
}

/* ---- functions that are the same in both versions */

API(const char *, GetVersion)(void) { return VERSION; }
API(int, SetDebugLogging)(void *m, Flag on, size_t n, const char *const *categories) { return OK; }
API(void, FreeInstance)(void *m) { free(m); }
API(int, ExitInitializationMode)(void *m) { return OK; }
API(int, EnterEventMode)(void *m) { return OK; }
API(int, EnterContinuousTimeMode)(void *m) { return OK; }
API(int, Terminate)(void *m) { return OK; }
API(int, Reset)(void *m) { return reset(m); }

API(int, SetTime)(void *m, double t) { return set_time(m, t); }
API(int, SetContinuousStates)(void *m, const double *y, size_t n) {
    memcpy(((Model *)m)->now.x + STATES, y, n * sizeof(double));
    return changed(m);
}
API(int, GetContinuousStates)(void *m, double *y, size_t n) {
    memcpy(y, ((Model *)m)->now.x + STATES, n * sizeof(double));
    return OK;
}
API(int, GetContinuousStateDerivatives)(void *m, double *rates, size_t n) {
    const int status = evaluate(m, true, false);
    if (!status) memcpy(rates, ((Model *)m)->now.x + RATES, n * sizeof(double));
    return status;
}
API(int, GetNominalsOfContinuousStates)(void *m, double *nominals, size_t n) {
    while (n) nominals[--n] = 1.0;
    return OK;
}
API(int, GetEventIndicators)(void *m, double *indicators, size_t n) { return n ? ERROR : OK; }
API(int, CompletedIntegratorStep)(void *m, Flag no_return, Flag *event_mode, Flag *terminate) {
    const double *x = ((Model *)m)->now.x;
    *event_mode = drifted(m, x[0], x + STATES);
    return *terminate = 0, OK;
}

API(int, GetFMUState)(void *m, void **kept) {
    if (!*kept) *kept = malloc(sizeof(State));
    if (!*kept) return ERROR;
    *(State *)*kept = ((Model *)m)->now;
    return OK;
}
API(int, SetFMUState)(void *m, void *kept) { return ((Model *)m)->now = *(State *)kept, OK; }
API(int, FreeFMUState)(void *m, void **kept) { return free(*kept), *kept = NULL, OK; }
API(int, SerializedFMUStateSize)(void *m, void *kept, size_t *size) { return *size = sizeof(State), OK; }
API(int, SerializeFMUState)(void *m, void *kept, Byte *bytes, size_t size) {
    if (size < sizeof(State)) return ERROR;
    memcpy(bytes, kept, sizeof(State));
    return OK;
}
API(int, DeserializeFMUState)(void *m, const Byte *bytes, size_t size, void **kept) {
    if (size != sizeof(State) || !(*kept = malloc(size))) return ERROR;
    memcpy(*kept, bytes, size);
    return OK;
}
