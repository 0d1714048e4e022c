"""The key map, the guard that judges key timing, arming, and the confirmation matrix."""
