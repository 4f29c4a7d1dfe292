"""Tasks that step many environments at once in NumPy and Numba."""
