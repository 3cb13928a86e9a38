"""Trees and loops in Hamiltonian variables: the reference formulation, the kernels, operation counts."""
