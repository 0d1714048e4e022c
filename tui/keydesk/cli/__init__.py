"""The command line: one room for each command."""
