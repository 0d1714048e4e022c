"""The grammars of what a trader types: the command line, orders, alerts, replays, names of instruments."""
