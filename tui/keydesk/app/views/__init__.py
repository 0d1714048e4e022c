"""What the trader arranges for himself: watchlists, workspaces, the letters that filter a table."""
