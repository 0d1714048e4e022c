"""Arithmetic on values, without screen, disk, clock or network."""
