"""Figures, tables and pages made from run directories alone."""

from mppo.report.page import html

__all__ = ["html"]
