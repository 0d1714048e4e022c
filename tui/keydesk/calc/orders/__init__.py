"""What a ticket, a protection or a close sends: drafts, units, levels, checks and limits."""
