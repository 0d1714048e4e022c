"""The HTTP face of the practice broker: it reads requests, asks the broker, and writes answers."""
