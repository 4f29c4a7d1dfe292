"""The paper's tables and figures: what it printed, and the same from our runs."""
