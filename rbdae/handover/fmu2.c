/* FMI 2.0: what is not the same in 3.0. */
#define VERSION "2.0"
#define FMI(name) fmi2##name
#define fmi2GetContinuousStateDerivatives fmi2GetDerivatives
#define fmi2GetFMUState fmi2GetFMUstate
#define fmi2SetFMUState fmi2SetFMUstate
#define fmi2FreeFMUState fmi2FreeFMUstate
#define fmi2SerializedFMUStateSize fmi2SerializedFMUstateSize
#define fmi2SerializeFMUState fmi2SerializeFMUstate
#define fmi2DeserializeFMUState fmi2DeSerializeFMUstate
#ifndef FMI2_FUNCTION_PREFIX
#define FMI2_FUNCTION_PREFIX
#endif
#define PREFIX FMI2_FUNCTION_PREFIX
typedef int Flag;
typedef char Byte;
#include "fmu.c"

typedef void (*Logger)(void *, const char *, int, const char *, const char *, ...);

typedef struct {
    Logger logger;
    void *(*allocate)(size_t, size_t);
    void (*free)(void *);
    void (*finished)(void *, int);
    void *environment;
} Callbacks;

typedef struct {
    int discrete_states_needed, terminate, nominals_changed, states_changed, next_time_defined;
    double next_time;
} EventInfo;

static int say(const Model *m, int status, const char *message) {
    const Logger log = (Logger)m->logger;
    if (log) log(m->environment, m->name, status, CATEGORY(status), "%s", message);
    return status;
}

API(const char *, GetTypesPlatform)(void) { return "default"; }

API(void *, Instantiate)(const char *name, int type, const char *guid, const char *resources, const Callbacks *callbacks,
                         int visible, int logging) {
    return instantiate(name, guid, (Any)callbacks->logger, callbacks->environment);
}

API(int, SetupExperiment)(void *m, int has_tolerance, double tolerance, double start, int has_stop, double stop) {
    if (has_tolerance && tolerance > 0.0) ((Model *)m)->now.x[TOLERANCE] = tolerance;
    return set_time(m, start);
}
API(int, EnterInitializationMode)(void *m) { return OK; }

API(int, GetReal)(void *m, const uint32_t *which, size_t n, double *values) { return get(m, which, n, values); }
API(int, SetReal)(void *m, const uint32_t *which, size_t n, const double *values) { return set(m, which, n, values); }
REFUSED(GetInteger, (void *m, const uint32_t *which, size_t n, int *values))
REFUSED(SetInteger, (void *m, const uint32_t *which, size_t n, const int *values))
REFUSED(GetBoolean, (void *m, const uint32_t *which, size_t n, int *values))
REFUSED(SetBoolean, (void *m, const uint32_t *which, size_t n, const int *values))
REFUSED(GetString, (void *m, const uint32_t *which, size_t n, const char **values))
REFUSED(SetString, (void *m, const uint32_t *which, size_t n, const char *const *values))

API(int, GetDirectionalDerivative)(void *m, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                                   size_t n_knowns, const double *seed, double *out) {
    return directional(m, unknowns, n_unknowns, knowns, n_knowns, seed, out);
}

API(int, NewDiscreteStates)(void *m, EventInfo *info) {
    *info = (EventInfo){0, 0, 0, 0, 0, 0.0};
    return project(m, &info->states_changed);
}

API(int, DoStep)(void *m, double t, double step, int no_return) { return advance(m, t + step); }
API(int, GetRealStatus)(void *m, int which, double *value) {
    *value = ((Model *)m)->now.x[0]; /* of the last successful step; there is no other */
    return which == 2 ? OK : DISCARD;
}
API(int, GetBooleanStatus)(void *m, int which, int *value) {
    *value = 0; /* it does not terminate */
    return which == 3 ? OK : DISCARD;
}
REFUSED(CancelStep, (void *m))
REFUSED(GetStatus, (void *m, int which, int *value))
REFUSED(GetIntegerStatus, (void *m, int which, int *value))
REFUSED(GetStringStatus, (void *m, int which, const char **value))
REFUSED(SetRealInputDerivatives, (void *m, const uint32_t *which, size_t n, const int *order, const double *values))
REFUSED(GetRealOutputDerivatives, (void *m, const uint32_t *which, size_t n, const int *order, double *values))
