"""The desk's links to the broker: plain coroutines that write the store."""
