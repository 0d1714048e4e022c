"""The trade journal on the desk: its workers and pages, and the screens kept at fills."""
