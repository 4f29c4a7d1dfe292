"""`mppo bench`: ratios of one session, measured in processes of their own."""
