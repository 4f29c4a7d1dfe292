"""Figures and tables made from run directories alone."""
