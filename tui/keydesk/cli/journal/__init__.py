"""The command `keydesk journal`."""
