"""Every format on disk, and nothing that computes."""
