"""The commands `keydesk order`: by the ticket's checks and the client's order protocol; a dry run without --yes."""
