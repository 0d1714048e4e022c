"""The order ticket."""
