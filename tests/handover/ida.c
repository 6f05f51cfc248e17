/* A run of IDA on the file that rbdae.Problem.c_source(..., kind="ida") writes: "MODEL" is this file, and NAME(x) its
   names. Prints the numbers of steps, then the state at the end. usage: ida T RTOL ATOL FIRST_STEP */
#include MODEL
#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

static const double *const none = NULL;

static int residual(realtype t, N_Vector y, N_Vector yd, N_Vector r, void *data) {
    (void)data;
    return NAME(residual)(t, N_VGetArrayPointer(y), N_VGetArrayPointer(yd), none, none, N_VGetArrayPointer(r));
}

static int jacobian(realtype t, realtype c, N_Vector y, N_Vector yd, N_Vector r, SUNMatrix J, void *data, N_Vector a,
                    N_Vector b, N_Vector d) {
    static double entries[NAME(jacobian_NNZ)];
    (void)r, (void)data, (void)a, (void)b, (void)d;
    if (NAME(jacobian)(t, N_VGetArrayPointer(y), N_VGetArrayPointer(yd), c, none, none, entries)) return 1;
    NAME(dense)(NAME(N), NAME(N), NAME(jacobian_rows), NAME(jacobian_pointers), entries, SUNDenseMatrix_Data(J));
    return 0;
}

int main(int argc, char **argv) {
    SUNContext context;
    realtype t = NAME(t0), T, rtol, atol, first;
    long steps = 0;
    if (argc < 5) return 2;
    T = atof(argv[1]), rtol = atof(argv[2]), atol = atof(argv[3]), first = atof(argv[4]);
    if (SUNContext_Create(NULL, &context)) return 1;
    N_Vector y = N_VNew_Serial(NAME(N), context), yd = N_VClone(y), tolerances = N_VClone(y);
    for (int i = 0; i < NAME(N); i++) {
        N_VGetArrayPointer(y)[i] = NAME(y0)[i];
        N_VGetArrayPointer(yd)[i] = NAME(yd0)[i];
        N_VGetArrayPointer(tolerances)[i] = NAME(untested)[i] ? 1e10 : atol;
    }
    SUNMatrix J = SUNDenseMatrix(NAME(N), NAME(N), context);
    SUNLinearSolver solver = SUNLinSol_Dense(y, J, context);
    void *ida = IDACreate(context);
    if (IDAInit(ida, residual, t, y, yd) || IDASVtolerances(ida, rtol, tolerances) || IDASetInitStep(ida, first) ||
        IDASetLinearSolver(ida, solver, J) || IDASetJacFn(ida, jacobian) ||
        IDASetStopTime(ida, T) || IDASetMaxNumSteps(ida, 100000) || IDASolve(ida, T, &t, y, yd, IDA_NORMAL) < 0 ||
        IDAGetNumSteps(ida, &steps))
        return 1;
    printf("%ld\n", steps);
    for (int i = 0; i < NAME(N); i++) printf("%.17g\n", N_VGetArrayPointer(y)[i]);
    return 0;
}
