"""The panes of the main screen; each draws one subject from the frame it is given."""
