"""What the trader arranges: watchlists and workspaces."""
