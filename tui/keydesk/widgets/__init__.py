"""What panes are made of: lines, columns, the rules between panes, and what goes to the terminal."""
