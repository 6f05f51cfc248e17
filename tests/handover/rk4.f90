! Classical Runge-Kutta steps on the file top.c of rbdae.Problem.c_source: prints the state after `n` steps of size h.
module top
   use iso_c_binding
   real(c_double), bind(C, name="top_y0") :: y0(7)
   interface
      integer(c_int) function rhs(t, y, u, p, out) bind(C, name="top_rhs")
         import :: c_int, c_double
         real(c_double), value :: t
         real(c_double), intent(in) :: y(*), u(*), p(*)
         real(c_double), intent(out) :: out(*)
      end function
   end interface
end module

program rk4
   use top
   implicit none
   integer, parameter :: n = 100
   real(c_double) :: y(7), k(7, 4), none(1), t, h
   integer :: i, bad
   bad = 0; none = 0; h = 1d-3; y = y0
   do i = 0, n - 1
      t = i*h
      bad = bad + rhs(t, y, none, none, k(:, 1))
      bad = bad + rhs(t + h/2, y + h/2*k(:, 1), none, none, k(:, 2))
      bad = bad + rhs(t + h/2, y + h/2*k(:, 2), none, none, k(:, 3))
      bad = bad + rhs(t + h, y + h*k(:, 3), none, none, k(:, 4))
      y = y + h/6*(k(:, 1) + 2*k(:, 2) + 2*k(:, 3) + k(:, 4))
   end do
   if (bad /= 0) stop 1
   print '(es25.17)', y
end program
