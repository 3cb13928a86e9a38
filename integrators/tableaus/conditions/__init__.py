"""Order conditions: rooted trees, words, and what coefficients must satisfy."""
