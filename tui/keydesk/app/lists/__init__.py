"""The lists that a trader keeps: watchlists and workspaces."""
