"""The command line as data: every verb with its options, its help and an example. Imports nothing that takes time."""
