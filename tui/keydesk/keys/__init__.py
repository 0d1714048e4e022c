"""The keys: what each does, the guard in front of them, arming, and what confirms."""
