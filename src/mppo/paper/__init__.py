"""The paper by command: its tables and figures, the runs they need, and ours beside theirs."""
