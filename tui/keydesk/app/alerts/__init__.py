"""What the desk reports without a key: alerts, what happened while the trader was away, Friday's trades without stops."""
