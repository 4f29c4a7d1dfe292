"""What a method adds to the task's reward or objective so that it explores."""
