"""What is not known of the account because the broker's answer could not be read: it is named, and never taken for nothing."""

from collections.abc import Sequence

from keydesk.store.store import Store
from keydesk.text.format import counted
from keydesk.text.sanitize import SafeText, clean, clean_name, safe
from keydesk.values import TradeRow
from keydesk_client.account.records import SIZE_MEMBERS

UNKNOWN = safe("?")
MAX_WORDS = 80  # characters of what can be read of one record


def is_known(store: Store) -> bool:
    """Return whether all of the newest answers about the account could be read."""
    return not store.unread and not _partly_read(store)


def unknown_text(store: Store) -> SafeText:
    """Return what is not known, in a few words: "1 trade, parts of 2 trades, 1 order"; "" if all is."""
    unread, partly = store.unread, _partly_read(store)
    parts = (
        counted(len(unread.trades), "trade") if unread.trades else "",
        safe(f"parts of {counted(len(partly), 'trade')}") if partly else "",
        counted(len(unread.orders), "order") if unread.orders else "",
        "" if not unread.answer or unread.trades or partly or unread.orders else "the last answer",
    )
    return safe(", ".join(filter(None, parts)))


def unknown_lines(store: Store) -> Sequence[SafeText]:
    """Return a line for each trade and order that is not known, with what could be read of it, and why an answer was not read."""
    unread = store.unread
    return [
        *(safe(f"a trade: {_words(each)}") for each in unread.trades),
        *(
            safe(f"#{clean_name(each.id)} {clean_name(each.instrument)}: {_members(each)}")
            for each in _partly_read(store)
        ),
        *(safe(f"an order: {_words(each)}") for each in unread.orders),
        *([safe(clean(unread.answer, MAX_WORDS))] if unread.answer else []),
    ]


def are_trades_known(store: Store) -> bool:
    """Return whether every open trade is listed with its units: without that no sum over trades is made."""
    return not store.unread.trades and not any(
        each.unread & SIZE_MEMBERS for each in store.trades.values()
    )


def _partly_read(store: Store) -> Sequence[TradeRow]:
    return [each for each in store.trades.values() if each.unread]


def _words(text: str) -> SafeText:
    return clean(text, MAX_WORDS) if text else safe("nothing of it can be read")


def _members(trade: TradeRow) -> str:
    """Return what is not known of a trade, in words."""
    if "id" in trade.unread:
        return "whether it is still open"
    return ", ".join(sorted(each.replace("_", " ") for each in trade.unread))
