"""What the desk tells unasked: alerts, what happened while the trader was away, Friday's trades without stops."""
