"""Commands under way, from few words."""

from keydesk.values import Command, CommandKind, CommandState


def in_flight(
    instrument: str | None,
    *,
    state: CommandState = "sent",
    kind: CommandKind = "open",
    text: str = "BUY 10,000 EUR/USD at market",
) -> Command:
    """A command of which the outcome is not known."""
    return Command(
        text, id="kd-9", instrument=instrument, kind=kind, state=state, why="read timed out"
    )
