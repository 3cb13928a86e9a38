"""Small vectors and matrices: spatial algebra on arrays, screws and rotations in kernels, sparse factors."""
