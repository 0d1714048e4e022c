"""The commands that read an account and its market, for people and, with --json, for scripts."""
