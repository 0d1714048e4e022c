"""Sign in and out, change the account of the desk, look at all accounts."""
