"""Sequences of proteins and DNA: files, alphabets, substitution matrices, statistics."""
