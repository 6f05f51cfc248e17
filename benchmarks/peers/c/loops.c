/* A function called n times from compiled code: what a call costs without Python. */
#include "peers.h"

int call_many(Function f, void* context, double t, const double* y, const double* yd, double c, double* out, long n) {
    int failed = 0;
    for (long i = 0; i < n; i++) failed |= f(context, t, y, yd, c, out);
    return failed;
}
