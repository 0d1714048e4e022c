"""The REST interface: one class for each part of it, and one client that has them all."""
