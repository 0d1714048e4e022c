"""What an alert is made from: the time, the trader's zone, the prices."""

from keydesk.calc.alerts.making import Priced, Surroundings
from keydesk.store.store import Store


def surroundings_of(store: Store, now_ns: int) -> Surroundings:
    """Return them as they are now."""
    prices = {
        name: Priced(quote.bid, quote.ask, known.pip, known.display_precision)
        for name, quote in store.quotes.items()
        if (known := store.instruments.get(name)) is not None
    }
    trades = None if store.account is None else store.trades.keys()
    return Surroundings(now_ns, store.zone, prices, trades)
