"""Fills of orders: price and depth, trades opened, reduced and closed, and the orders that come with a fill."""
