"""One run: its programs, its state, the loop around it, and the model that a user holds."""
