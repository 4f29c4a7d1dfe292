"""A policy that acts: compiled forward passes, spaces, the agent that is handed to a user."""
