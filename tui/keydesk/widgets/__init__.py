"""Widgets that draw whole lines, the app that writes only differences to the terminal, and the themes."""
