"""Commands on their way to the broker and what is known of them."""
