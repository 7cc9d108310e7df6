"""LiGen's docking method, open and portable: parse, dock, filter, score, rank."""

__version__ = "0.2.0"
