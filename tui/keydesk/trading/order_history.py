"""The history of each order: what the journal, the audit log and the desk know of it, and what to do.

An order without a known outcome is first and stays until it is resolved. The journal says what was sent and whether it is
settled; the audit log has the times of its look-ups and the words of its outcome.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from keydesk.store.sent_orders import WAITS
from keydesk.text.sanitize import SafeText, clean
from keydesk.trading.audit import AuditEntry, read_entries
from keydesk.trading.line_file import newest_text
from keydesk.values import Command
from keydesk.words.order_text import intent_text
from keydesk_client.orders.journal import AMBIGUOUS
from keydesk_client.orders.outcome import Intent

READ_AT_ONCE = 2_000_000  # bytes of each file
MAX_SHOWN = 300  # settled orders
MAX_LENGTH = 2_000  # characters of a request
MAX_LINES = 60  # of one order: look-ups may go on for hours
ID_START = "kd-"
ACKNOWLEDGED, DISMISSED = "acknowledged", "dismissed"
OF_ORDERS = frozenset(
    {"sending", "unknown", "outcome", "showed up", "recovered", ACKNOWLEDGED, DISMISSED}
)
OrderState = Literal["sent", "unknown", "unconfirmed", "one of several", "open", "settled"]
TO_DO: Mapping[OrderState, str] = {
    "sent": "Wait: the answer is under way. If it is lost, the desk looks the order up by itself.",
    "unknown": "Wait: no answer says what became of it; the desk looks for it in the account's transactions. "
    + WAITS,
    "unconfirmed": "Not found so far, and not disproved: it may still take effect. Compare trades and orders before you "
    "send it again. Until you leave, this desk says if it shows up; then you close or cancel it. a dismisses it.",
    "one of several": "Several identical requests were sent, and their results cannot be told apart. "
    "Compare what is held with what you wanted; a further exit is always possible. Then a acknowledges it.",
    "open": "The journal has no outcome of it: another desk is sending it now, or it is looked up at the next start.",
    "settled": "Nothing: its outcome is known.",
}


class HistoryEntry(Struct, frozen=True):
    """One thing that is known of an order, and when it was."""

    time_ns: int
    what: SafeText
    text: SafeText
    market_ns: int | None = None  # where the market has a time of its own


class OrderHistory(Struct, frozen=True):
    """An order from its request to its outcome."""

    id: str
    time_ns: int  # when it was made
    text: SafeText  # BUY 50,000 EUR/USD market
    state: OrderState
    outcome: SafeText = field(default_factory=lambda: clean(""))  # the last words about it
    request: SafeText = field(default_factory=lambda: clean(""))
    lines: tuple[HistoryEntry, ...] = ()  # oldest first
    market_ns: int | None = None  # when it was made, where the market has a time of its own

    @property
    def is_open(self) -> bool:
        """Whether its outcome is not known for certain."""
        return self.state != "settled"

    @property
    def to_do(self) -> str:
        """Return what the trader can do about it."""
        return TO_DO[self.state]


def read_order_histories(journal: Path, audit: Path) -> list[OrderHistory]:
    """Return the orders in journal and audit log, those without a known outcome first, then the newest.

    A file that is missing or cannot be read counts as empty; the other one is still used.
    """
    entries: list[AuditEntry] = []
    text = b""
    with suppress(OSError):
        entries = read_entries(audit, READ_AT_ONCE)
    with suppress(OSError):
        text = newest_text(journal, READ_AT_ONCE)
    return order_histories(text, entries)


def order_histories(journal: bytes, entries: Iterable[AuditEntry]) -> list[OrderHistory]:
    """Return the orders of the journal's lines and the entries of the audit log."""
    histories = {history.id: history for history in _journalled(journal)}
    for id_, lines in _audit_lines(entries).items():
        known = histories.get(id_)
        histories[id_] = _with_lines(known if known is not None else _from_lines(id_, lines), lines)
    return in_order(histories.values())


def in_order(histories: Iterable[OrderHistory]) -> list[OrderHistory]:
    """Return every open order, then the newest of the others; each of both newest first."""
    newest = sorted(histories, key=lambda history: -history.time_ns)
    still_open = [history for history in newest if history.is_open]
    return [*still_open, *[history for history in newest if not history.is_open][:MAX_SHOWN]]


def with_states(
    histories: Sequence[OrderHistory], in_flight: Iterable[Command]
) -> list[OrderHistory]:
    """Return the orders with the states that the desk knows; one that is only in flight is added."""
    known = {history.id: history for history in histories}
    for record in in_flight:
        text = clean(record.text)
        history = known.get(record.id, OrderHistory(record.id, 2**63, text, record.state))
        known[record.id] = replace(history, state=record.state, text=text)
    return in_order(known.values())


def _journalled(text: bytes) -> Iterator[OrderHistory]:
    """Return the orders whose request is in the journal, oldest first."""
    intents: dict[str, Intent] = {}
    verdicts: dict[str, str] = {}
    for line in text.splitlines():
        with suppress(ValueError, KeyError, TypeError):
            members = json.loads(line)
            if "intent" in members:
                intent = Intent.from_wire(members["intent"])
                intents[intent.id] = intent
            else:
                verdicts[str(members["settled"])] = str(members["as"])
    for intent in intents.values():
        yield _life(intent, verdicts.get(intent.id))


def _life(intent: Intent, verdict: str | None) -> OrderHistory:
    states: Mapping[str | None, OrderState] = {
        None: "open",
        "unconfirmed": "unconfirmed",
        AMBIGUOUS: "one of several",
    }
    about = f" of {intent.target}" if intent.target else ""
    body = f" {json.dumps(dict(intent.body))}" if intent.body else ""
    after = f"sent after transaction #{intent.since}"
    return OrderHistory(
        intent.id,
        intent.at_ns,
        clean(intent_text(intent)),
        states.get(verdict, "settled"),
        clean(f"journal: {verdict}" if verdict else "journal: no outcome yet"),
        clean(f"{intent.action.value}{about}{body}, {after}", MAX_LENGTH),
    )


def _audit_lines(entries: Iterable[AuditEntry]) -> dict[str, list[HistoryEntry]]:
    """Return what the audit log says of each order, oldest first."""
    by_order: dict[str, list[HistoryEntry]] = {}
    for entry in sorted(entries, key=lambda each: each.time_ns):
        id_, _, text = entry.text.partition(" ")
        if entry.what in OF_ORDERS and id_.startswith(ID_START):
            line = HistoryEntry(entry.time_ns, entry.what, clean(text, MAX_LENGTH), entry.market_ns)
            by_order.setdefault(id_, []).append(line)
    return by_order


def _from_lines(id_: str, lines: Sequence[HistoryEntry]) -> OrderHistory:
    """Return an order that the journal does not have: it was compacted, or an exit went out without it."""
    known = next((line for line in lines if line.what == "sending"), lines[0])
    text = known.text.partition(" {")[0]
    return OrderHistory(id_, lines[0].time_ns, clean(text), "settled")


def _with_lines(history: OrderHistory, lines: Sequence[HistoryEntry]) -> OrderHistory:
    last = lines[-1]
    kept = (
        lines if len(lines) <= MAX_LINES else [*lines[: MAX_LINES // 2], *lines[-MAX_LINES // 2 :]]
    )
    sent = next((line.text for line in lines if line.what == "sending"), "").removesuffix(" {}")
    has_outcome = last.what != "sending"
    ended = history.state == "unconfirmed" and last.what in {"showed up", DISMISSED}
    seen = history.state == "one of several" and any(line.what == ACKNOWLEDGED for line in lines)
    return replace(
        history,
        state="settled" if ended or seen else history.state,
        outcome=last.text if has_outcome else history.outcome,
        request=history.request or clean(sent, MAX_LENGTH),
        lines=tuple(kept),
        market_ns=lines[0].market_ns,
    )
