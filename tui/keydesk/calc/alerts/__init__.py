"""Alerts: their conditions, the line that a trader types, and the engine that decides when a condition is met."""
