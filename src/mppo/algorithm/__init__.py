"""Algorithm 1 and all that it is made of, as pure functions of arrays."""
