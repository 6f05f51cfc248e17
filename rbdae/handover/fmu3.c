/* FMI 3.0: what is not the same in 2.0. */
#include <stdbool.h>
#define VERSION "3.0"
#define FMI(name) fmi3##name
#ifndef FMI3_FUNCTION_PREFIX
#define FMI3_FUNCTION_PREFIX
#endif
#define PREFIX FMI3_FUNCTION_PREFIX
typedef bool Flag;
typedef unsigned char Byte;
#include "fmu.c"

#define WHICH void *m, const uint32_t *which, size_t n

typedef void (*Logger)(void *, int, const char *, const char *);

static int say(const Model *m, int status, const char *message) {
    const Logger log = (Logger)m->logger;
    if (log) log(m->environment, status, CATEGORY(status), message);
    return status;
}

API(void *, InstantiateModelExchange)(const char *name, const char *token, const char *resources, bool visible,
                                      bool logging, void *environment, Logger log) {
    return instantiate(name, token, (Any)log, environment);
}
API(void *, InstantiateCoSimulation)(const char *name, const char *token, const char *resources, bool visible,
                                     bool logging, bool events, bool early_return, const uint32_t *intermediate,
                                     size_t n_intermediate, void *environment, Logger log, void (*update)(void)) {
    return instantiate(name, token, (Any)log, environment);
}
API(void *, InstantiateScheduledExecution)(const char *name, const char *token, const char *resources, bool visible,
                                           bool logging, void *environment, Logger log, void (*update)(void),
                                           void (*lock)(void), void (*unlock)(void)) {
    return NULL;
}

API(int, EnterInitializationMode)(void *m, bool has_tolerance, double tolerance, double start, bool has_stop,
                                  double stop) {
    if (has_tolerance && tolerance > 0.0) ((Model *)m)->now.x[TOLERANCE] = tolerance;
    return set_time(m, start);
}
API(int, EnterConfigurationMode)(void *m) { return OK; }
API(int, ExitConfigurationMode)(void *m) { return OK; }

API(int, GetFloat64)(WHICH, double *values, size_t n_values) { return n == n_values ? get(m, which, n, values) : ERROR; }
API(int, SetFloat64)(WHICH, const double *values, size_t n_values) {
    return n == n_values ? set(m, which, n, values) : ERROR;
}
#define NONE_OF(name, type) \
    REFUSED(Get##name, (WHICH, type *values, size_t n_values)) \
    REFUSED(Set##name, (WHICH, type const *values, size_t n_values))
NONE_OF(Float32, float)
NONE_OF(Int8, int8_t) NONE_OF(UInt8, uint8_t) NONE_OF(Int16, int16_t) NONE_OF(UInt16, uint16_t)
NONE_OF(Int32, int32_t) NONE_OF(UInt32, uint32_t) NONE_OF(Int64, int64_t) NONE_OF(UInt64, uint64_t)
NONE_OF(Boolean, bool) NONE_OF(String, const char *)
REFUSED(GetBinary, (WHICH, size_t *sizes, const uint8_t **values, size_t n_values))
REFUSED(SetBinary, (WHICH, const size_t *sizes, const uint8_t *const *values, size_t n_values))
REFUSED(GetClock, (WHICH, bool *values))
REFUSED(SetClock, (WHICH, const bool *values))
REFUSED(GetIntervalDecimal, (WHICH, double *intervals, int *qualifiers))
REFUSED(SetIntervalDecimal, (WHICH, const double *intervals))
REFUSED(GetIntervalFraction, (WHICH, uint64_t *counters, uint64_t *resolutions, int *qualifiers))
REFUSED(SetIntervalFraction, (WHICH, const uint64_t *counters, const uint64_t *resolutions))
REFUSED(GetShiftDecimal, (WHICH, double *shifts))
REFUSED(SetShiftDecimal, (WHICH, const double *shifts))
REFUSED(GetShiftFraction, (WHICH, uint64_t *counters, uint64_t *resolutions))
REFUSED(SetShiftFraction, (WHICH, const uint64_t *counters, const uint64_t *resolutions))

REFUSED(GetNumberOfVariableDependencies, (void *m, uint32_t which, size_t *n))
REFUSED(GetVariableDependencies, (void *m, uint32_t which, size_t *elements, uint32_t *independents, size_t *of_these,
                                  int *kinds, size_t n))

API(int, GetDirectionalDerivative)(void *m, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                                   size_t n_knowns, const double *seed, size_t n_seed, double *out, size_t n_out) {
    return directional(m, unknowns, n_unknowns, knowns, n_knowns, seed, out);
}
REFUSED(GetAdjointDerivative, (void *m, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                               size_t n_knowns, const double *seed, size_t n_seed, double *out, size_t n_out))

API(int, EvaluateDiscreteStates)(void *m) { return OK; }
API(int, UpdateDiscreteStates)(void *m, bool *again, bool *terminate, bool *nominals, bool *states, bool *next, double *t) {
    *again = *terminate = *nominals = *next = false;
    *t = 0.0;
    return project(m, states);
}

API(int, GetNumberOfEventIndicators)(void *m, size_t *n) { return *n = 0, OK; }
API(int, GetNumberOfContinuousStates)(void *m, size_t *n) { return *n = model_N, OK; }

API(int, EnterStepMode)(void *m) { return OK; }
REFUSED(GetOutputDerivatives, (WHICH, const int32_t *orders, double *values, size_t n_values))
API(int, DoStep)(void *m, double t, double step, bool no_return, bool *event, bool *terminate, bool *early, double *last) {
    const int status = advance(m, t + step);
    *event = *terminate = *early = false;
    *last = ((Model *)m)->now.x[0];
    return status;
}
REFUSED(ActivateModelPartition, (void *m, uint32_t clock, double t))
