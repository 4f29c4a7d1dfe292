"""Many runs: what to run, and running it."""
