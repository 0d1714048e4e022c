"""Forms that close, protect or move what is open."""
