"""Why a command was not carried out."""


class Refusal(Exception):
    """One sentence for the person at the shell: what is wrong, and what to do."""
