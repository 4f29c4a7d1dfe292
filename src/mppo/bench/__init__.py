"""`mppo bench`: ratios of one sitting, measured in processes of their own."""
