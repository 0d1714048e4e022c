"""The actions of the desk's keys, grouped by what they act on. No action sends an order."""
