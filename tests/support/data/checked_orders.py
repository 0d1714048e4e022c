"""Orders for the tests of the wire: at the market, or a distance away from it."""

from decimal import Decimal
from typing import Any

from support.checked import CheckedBroker

Order = dict[str, Any]


def market(units: str = "1000", **members: object) -> Order:
    """Return the body of a market order."""
    return {"order": {"type": "MARKET", "instrument": "EUR_USD", "units": units, **members}}


async def price(broker: CheckedBroker, instrument: str = "EUR_USD") -> Decimal:
    """Return the ask in force."""
    found = await broker.ask("get_pricing", query={"instruments": instrument})
    return Decimal(found["prices"][0]["closeoutAsk"])


async def away(broker: CheckedBroker, percent: int) -> str:
    """Return a price some percent away from the market."""
    return str(round(await price(broker) * (100 + percent) / 100, 5))


async def limit(broker: CheckedBroker, percent: int = -5, **members: object) -> Order:
    """Return the body of a limit order to buy, that rests unless told otherwise."""
    level = await away(broker, percent)
    order = {"type": "LIMIT", "instrument": "EUR_USD", "units": "1000", "price": level, **members}
    return {"order": order}
