"""What can be said about a handful of seeds: scores, intervals, aggregates, comparisons.

Every random draw comes from a Generator with the fixed seed `SEED`, which the tables print.
"""
