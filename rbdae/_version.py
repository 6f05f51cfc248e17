"""The version, which results on disk carry."""

__version__ = "0.1.0"
