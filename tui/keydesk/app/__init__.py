"""The Textual application: workers, actions of keys, the open account, and how the desk starts and ends."""
