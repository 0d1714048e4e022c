"""The one-line strips: account, link health, focused instrument, and the key footer."""
