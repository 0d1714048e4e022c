"""What the trader arranges: watchlists, workspaces, the letters that filter a table."""
