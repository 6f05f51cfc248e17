"""Figures and equations of the Hamiltonian paper, [BS09]."""
