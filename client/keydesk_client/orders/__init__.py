"""The order protocol: a journaled intent is sent once, and its outcome is settled by proof."""
