"""Commands under way, from few words."""

from keydesk.values import InFlight, InFlightKind, InFlightState


def in_flight(
    instrument: str | None,
    *,
    state: InFlightState = "sent",
    kind: InFlightKind = "open",
    text: str = "BUY 10,000 EUR/USD at market",
) -> InFlight:
    """A command of which the outcome is not known."""
    return InFlight("kd-9", instrument, kind, state, text, why="read timed out")
