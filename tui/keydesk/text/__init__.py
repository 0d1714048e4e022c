"""Text on its way to a terminal or a file: what makes it safe, and how it is cut and wrapped."""
