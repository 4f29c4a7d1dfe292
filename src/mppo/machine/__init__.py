"""This process: threads, compilers, random streams, signals."""
