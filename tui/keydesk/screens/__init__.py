"""What stands where on the whole screen."""
