"""Porf on more than one machine: the same search on a Ray cluster."""

__version__ = "0.1.0"
