"""The practice broker: a v20 brokerage on this machine, on real exchange-rate history."""
