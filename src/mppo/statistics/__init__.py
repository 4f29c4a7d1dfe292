"""What can be said about a handful of seeds: intervals, aggregates, comparisons; numpy and SciPy.

Every random draw comes from a Generator with the fixed seed `SEED`, which the tables print.
"""
