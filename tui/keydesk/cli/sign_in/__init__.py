"""Sign in and out at the prompt, and change the passphrase of the vault."""
