"""The user's files: settings, profiles, limits, templates, watchlists and workspaces."""
