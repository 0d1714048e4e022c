"""Sanitizing text from outside, and formatting numbers, times and wrapped text."""
