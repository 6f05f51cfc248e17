/* CVODE and IDA of SUNDIALS with callbacks that are C functions. */
#include <cvode/cvode.h>
#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include "one_step.h"

typedef struct {
    Function f, jacobian;
    void* context;
    double* rows; /* the Jacobian by rows, to be turned into columns; NULL: the function writes columns itself */
} Callbacks;

static int rhs(double t, N_Vector y, N_Vector out, void* user) {
    const Callbacks* c = user;
    return c->f(c->context, t, NV_DATA_S(y), 0, 0.0, NV_DATA_S(out));
}

static int residual(double t, N_Vector y, N_Vector yd, N_Vector out, void* user) {
    const Callbacks* c = user;
    return c->f(c->context, t, NV_DATA_S(y), NV_DATA_S(yd), 0.0, NV_DATA_S(out));
}

static int fill(const Callbacks* c, double t, N_Vector y, N_Vector yd, double factor, SUNMatrix J) {
    const int n = (int)SM_ROWS_D(J);
    double *columns = SM_DATA_D(J), *target = c->rows ? c->rows : columns;
    if (c->jacobian(c->context, t, NV_DATA_S(y), yd ? NV_DATA_S(yd) : 0, factor, target)) return 1;
    if (c->rows)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) columns[j * n + i] = c->rows[i * n + j];
    return 0;
}

static int rhs_jacobian(double t, N_Vector y, N_Vector f, SUNMatrix J, void* user, N_Vector a, N_Vector b, N_Vector d) {
    (void)f, (void)a, (void)b, (void)d;
    return fill(user, t, y, 0, 0.0, J);
}

static int jacobian(double t, double factor, N_Vector y, N_Vector yd, N_Vector r, SUNMatrix J, void* user, N_Vector a,
                    N_Vector b, N_Vector d) {
    (void)r, (void)a, (void)b, (void)d;
    return fill(user, t, y, yd, factor, J);
}

/* From 0 to t_end. `newton`: BDF with a dense Jacobian (differences where jac is NULL), else Adams and fixed points. */
int run_cvode(Function f, Function jac, double* rows, void* context, int n, double t_end, double* y0, double rtol,
              double atol, int newton, Counts* counts) {
    SUNContext s;
    Callbacks callbacks = {f, jac, context, rows};
    if (SUNContext_Create(NULL, &s)) return CALLBACK_FAILED;
    N_Vector y = N_VMake_Serial(n, y0, s);
    void* solver = CVodeCreate(newton ? CV_BDF : CV_ADAMS, s);
    SUNMatrix J = newton ? SUNDenseMatrix(n, n, s) : NULL;
    SUNLinearSolver linear = newton ? SUNLinSol_Dense(y, J, s) : NULL;
    SUNNonlinearSolver fixed = newton ? NULL : SUNNonlinSol_FixedPoint(y, 0, s);
    double t = 0.0;
    long more = 0;
    int flag = CVodeInit(solver, rhs, 0.0, y);
    flag |= CVodeSStolerances(solver, rtol, atol) | CVodeSetUserData(solver, &callbacks);
    flag |= CVodeSetMaxNumSteps(solver, 1000000) | CVodeSetStopTime(solver, t_end);
    if (newton) {
        flag |= CVodeSetLinearSolver(solver, linear, J);
        if (jac) flag |= CVodeSetJacFn(solver, rhs_jacobian);
    } else
        flag |= CVodeSetNonlinearSolver(solver, fixed);
    if (!flag) flag = CVode(solver, t_end, y, &t, CV_NORMAL);
    CVodeGetNumSteps(solver, &counts->steps);
    CVodeGetNumErrTestFails(solver, &counts->rejected);
    CVodeGetNumRhsEvals(solver, &counts->calls);
    if (newton && !CVodeGetNumLinRhsEvals(solver, &more)) counts->calls += more;
    CVodeFree(&solver);
    if (newton) {
        SUNLinSolFree(linear);
        SUNMatDestroy(J);
    } else
        SUNNonlinSolFree(fixed);
    N_VDestroy(y);
    SUNContext_Free(&s);
    return flag < 0 ? CALLBACK_FAILED : DONE;
}

/* From 0 to t_end. `id` has 1 for unknowns with a derivative, 0 for algebraic ones, which are not in the error test;
   `atol` has a tolerance for each, since the algebraic ones are in Newton's test all the same. */
int run_ida(Function f, Function jac, double* rows, void* context, int n, double t_end, double* y0, double* yd0,
            double* id, double rtol, double* atol, Counts* counts) {
    SUNContext s;
    Callbacks callbacks = {f, jac, context, rows};
    if (SUNContext_Create(NULL, &s)) return CALLBACK_FAILED;
    N_Vector y = N_VMake_Serial(n, y0, s), yd = N_VMake_Serial(n, yd0, s), classes = N_VMake_Serial(n, id, s);
    N_Vector least = N_VMake_Serial(n, atol, s);
    void* solver = IDACreate(s);
    SUNMatrix J = SUNDenseMatrix(n, n, s);
    SUNLinearSolver linear = SUNLinSol_Dense(y, J, s);
    double t = 0.0;
    int flag = IDAInit(solver, residual, 0.0, y, yd);
    flag |= IDASVtolerances(solver, rtol, least) | IDASetUserData(solver, &callbacks);
    flag |= IDASetMaxNumSteps(solver, 1000000) | IDASetStopTime(solver, t_end);
    flag |= IDASetId(solver, classes) | IDASetSuppressAlg(solver, 1) | IDASetLinearSolver(solver, linear, J);
    if (jac) flag |= IDASetJacFn(solver, jacobian);
    if (!flag) flag = IDASolve(solver, t_end, &t, y, yd, IDA_NORMAL);
    IDAGetNumSteps(solver, &counts->steps);
    IDAGetNumErrTestFails(solver, &counts->rejected);
    IDAGetNumResEvals(solver, &counts->calls);
    IDAFree(&solver);
    SUNLinSolFree(linear);
    SUNMatDestroy(J);
    N_VDestroy(least);
    N_VDestroy(classes);
    N_VDestroy(yd);
    N_VDestroy(y);
    SUNContext_Free(&s);
    return flag < 0 ? CALLBACK_FAILED : DONE;
}
