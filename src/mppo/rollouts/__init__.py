"""Policies meet environments: batches for training, episodes for evaluation, checks of both."""
