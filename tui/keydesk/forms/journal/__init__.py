"""The pages of the trade journal, and the form of a note."""
