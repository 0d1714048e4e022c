"""What stands on the desk: each pane draws one thing from the frame it is handed."""
