"""The key map, the guard that checks key timing, arming, and the confirmation matrix."""
