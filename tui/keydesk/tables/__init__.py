"""Tables of the desk: what a column is, how rows are drawn, sorted and filtered, and a module for each table."""
