"""Proof that nothing was sent unasked: forms shown, keys typed, decisions, journal and the broker's ledger side by side.

shown = ShownForms()
Terminal(..., on_frame=shown.look)         # each picture that is painted
shown.typed("y")                           # for each key that may confirm
unexplained(decisions_in(home), shown)         # decisions that no key on a form that showed them explains
disagreements(intents, ledger, own_names)  # where journal and ledger differ
"""

import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from support.terminal import Terminal

SECOND: Final = 1_000_000_000
READING_NS: Final = SECOND // 2  # what the desk shows may be read so much later
ANSWER_NS: Final = 10 * SECOND  # from a key to the decision, on a machine that is busy
SMALL: Final = (80, 24)  # below this an exit can be sent, and its form is cut off
WIDEST: Final = 80  # columns of a form
ASKED: Final = re.compile(r"type\s+(\w)\s+to send")
MAY_HAVE_HAPPENED: Final = frozenset({"done", "open", "unconfirmed", "ambiguous", "dismissed"})
"""Verdicts of intents that the ledger may have; one is dismissed by the trader when its outcome stays unknown."""
ENTRY_ORDERS: Final = frozenset(
    {"MARKET_ORDER", "LIMIT_ORDER", "STOP_ORDER", "MARKET_IF_TOUCHED_ORDER"}
)
Transaction = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Shown:
    """A form as it stood on the screen: what it says it does, and the key that it asks for."""

    headline: str
    asks: str  # empty while it refuses, or before it asks
    is_small: bool


@dataclass(frozen=True, slots=True)
class Decision:
    """What the desk was about to do, from its audit log."""

    time_ns: int
    words: str

    @property
    def kind(self) -> str:
        return self.words.partition(" {")[0]

    @property
    def opens(self) -> bool:
        return self.kind in {"open order", "reverse", "move entry"}

    @property
    def units(self) -> Decimal | None:
        found = re.search(r'[{ ]"units": "(-?[\d.]+)"', self.words)
        return None if found is None else Decimal(found[1])

    @property
    def instrument(self) -> str:
        """The broker's name; a hostile one only begins with it."""
        found = re.search(r'"instrument": "([A-Z0-9]+_[A-Z0-9]+)', self.words)
        return "" if found is None else found[1]

    def _ids(self, member: str) -> list[str]:
        """The numbers that the broker's own ids begin with."""
        text = self.words.partition(f'"{member}": [')[2].partition('"]')[0]
        return re.findall(r'(?:^|, )"(\d+)', text)

    def _id(self, member: str) -> str | None:
        found = re.search(rf'"{member}": "(\d+)', self.words)
        return None if found is None else found[1]

    def is_shown_by(self, headline: str) -> bool:  # noqa: C901, PLR0911 - a table of the kinds
        """Whether a form with this headline decides this."""
        pair = self.instrument.replace("_", "/")
        match self.kind:
            case "open order":
                assert self.units is not None
                side = "BUY" if self.units > 0 else "SELL"
                return f"{side} {grouped(abs(self.units))} {pair}" in headline
            case "reverse":
                assert self.units is not None
                net = grouped(abs(self.units) / 2)
                return f"REVERSE {pair}" in headline and headline.count(net) == 2
            case "close trades":
                ids = self._ids("trade_ids")
                one = len(ids) == 1
                return headline.startswith("CLOSE") and (
                    f"{pair} #{ids[0]}" in headline if one else f"all {len(ids)} trades" in headline
                )
            case "close position":
                return headline.startswith("CLOSE") and f"position {pair}" in headline
            case "set protection" | "label trade" | "set exit plan":
                id_ = self._id("trade_id")
                verbs: tuple[str, ...] = ("MODIFY", "PROTECT", "TRAIL", "STOP TO BREAK-EVEN")
                if self.kind != "set protection":
                    verbs = ("TAG AND COMMENT", "EXIT PLAN")
                return headline.startswith(verbs) and id_ is not None and f"#{id_}" in headline
            case "label order":
                id_ = self._id("order_id")
                return (
                    headline.startswith("TAG AND COMMENT")
                    and id_ is not None
                    and f"#{id_}" in headline
                )
            case "configure account":
                return headline.startswith("ACCOUNT SETTINGS")
            case "move entry":
                id_ = self._id("order_id")
                return headline.startswith("MOVE ") and id_ is not None and f"#{id_}" in headline
            case "cancel orders":
                ids = self._ids("order_ids")
                count = f"CANCEL {len(ids)} entry order"
                return count in headline or (headline.startswith("CANCEL ") and len(ids) == 1)
            case "flatten":
                where = pair or "EVERYTHING"
                return f"FLATTEN {where}" in headline
        return False


@dataclass(slots=True)
class ShownForms:
    """The forms that stood on the screen, and the keys typed that may confirm one."""

    forms: list[tuple[int, Shown | None]] = field(default_factory=list)
    keys: list[tuple[int, str]] = field(default_factory=list)
    _read: int = -1

    def look(self, terminal: Terminal) -> None:
        """Note the form on the screen when something was written since the last look."""
        written = len(terminal.raw)
        if written == self._read:
            return
        self._read = written
        shown = form_on(terminal)
        if not self.forms or self.forms[-1][1] != shown:
            self.forms.append((time.time_ns(), shown))

    def typed(self, key: str) -> None:
        """Note a key that may confirm, just before it is sent."""
        self.keys.append((time.time_ns(), key))

    def between(self, start: int, end: int) -> list[Shown]:
        """Return the forms that stood there at any time between two moments."""
        found: list[Shown] = []
        for number, (since, shown) in enumerate(self.forms):
            until = self.forms[number + 1][0] if number + 1 < len(self.forms) else end
            if shown is not None and since <= end and until >= start:
                found.append(shown)
        return found


def form_on(terminal: Terminal) -> Shown | None:
    """Return the form on the screen: only a form has a heavy border, at the left edge or beside the chart."""
    screen = terminal.screen
    lines = [
        [screen.buffer[row][column].data for column in range(screen.columns)]
        for row in range(screen.lines)
    ]
    is_small = screen.columns < SMALL[0] or screen.lines < SMALL[1]
    edge = _left_edge(lines)
    if edge is None:  # or too narrow for a border
        return Shown("", "", is_small=True) if is_small else None
    inside = [line[edge + 1 :] for line in lines if line[edge] == "┃"]
    rows = ["".join(cells[:WIDEST]).partition("┃")[0].strip() for cells in inside]
    if not rows:
        return Shown("", "", is_small=True) if is_small else None
    text = "\n".join(rows)
    letter = ASKED.search(text)
    asks = letter[1] if letter else "y" if "y sends" in text else ""
    headline = " ".join(rows[: 1 if edge == 0 else 2])  # folded in a narrow column
    return Shown(headline.lstrip("▲▼ "), asks, is_small)


def _left_edge(lines: Sequence[Sequence[str]]) -> int | None:
    """Return the column of a form's left border: at the edge also where the window cuts its corners off."""
    if any(line[0] == "┃" for line in lines):
        return 0
    corners = (line.index("┏") for line in lines if "┏" in line and "┓" in line)
    return next(corners, None)


def grouped(units: Decimal) -> str:
    """Units as a form shows them."""
    text = f"{units:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def decisions_in(folder: Path) -> list[Decision]:
    """Every decision in the audit logs under a folder, in order."""
    found = [
        Decision(entry["time_ns"], entry["words"])
        for entry in _lines(folder, "*.audit")
        if entry.get("what") == "decided"
    ]
    return sorted(found, key=lambda each: each.time_ns)


def kinds_in(folder: Path) -> frozenset[str]:
    """What kinds of entries the audit logs under a folder have."""
    return frozenset(str(entry["what"]) for entry in _lines(folder, "*.audit"))


def unexplained(decisions: Iterable[Decision], shown: ShownForms) -> list[str]:
    """Return the decisions that no key of their own explains, typed on a form that showed them."""
    left = list(shown.keys)
    found: list[str] = []
    for decision in decisions:
        key = next((key for key in reversed(left) if _explains(key, decision, shown)), None)
        if key is None:
            near = [key for key in shown.keys if abs(key[0] - decision.time_ns) < ANSWER_NS]
            forms = shown.between(decision.time_ns - ANSWER_NS, decision.time_ns)
            found.append(f"{decision}; keys {near[-5:]}; forms {forms[-5:]}")
        else:
            left.remove(key)
    return found


def _explains(key: tuple[int, str], decision: Decision, shown: ShownForms) -> bool:
    at, letter = key
    if not decision.time_ns - ANSWER_NS <= at <= decision.time_ns:
        return False
    forms = shown.between(at - READING_NS, decision.time_ns + READING_NS)
    if any(form.asks == letter and decision.is_shown_by(form.headline) for form in forms):
        return True
    # A window that shrank over an open form cuts it off, and an exit still leaves.
    was_small = any(form.is_small for form in forms) or not forms
    before = shown.between(at - 6 * ANSWER_NS, decision.time_ns)
    return (
        was_small
        and not decision.opens
        and any(decision.is_shown_by(form.headline) or form.is_small for form in before)
    )


# The journal and the ledger.


@dataclass(slots=True)
class Journalled:
    """An intent of the desk's journal, in the broker's own names, and what became of it."""

    intent: Mapping[str, Any]
    verdict: str = "open"
    claimed: frozenset[str] = frozenset()

    @property
    def action(self) -> str:
        return str(self.intent["action"])


def journal_in(folder: Path, own_names: Mapping[str, str]) -> dict[str, Journalled]:
    """Read every intent of the journals under a folder, and what became of it."""
    found: dict[str, Journalled] = {}
    lines = _lines(folder, "*.journal")
    for line in lines:
        if "intent" in line:
            intent = _renamed(line["intent"], own_names)
            found[intent["id"]] = Journalled(intent)
    for line in lines:
        if "settled" in line and line["settled"] in found:
            each = found[line["settled"]]
            each.verdict = line["as"]
            each.claimed = frozenset(str(id_) for id_ in line.get("claimed", ()))
    return found


@dataclass(slots=True)
class Request:
    """What one request made: a batch of the broker's ledger."""

    batch: list[Transaction]
    key: tuple[str, ...]  # action and target, or action, instrument and units
    client_id: str = ""

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(str(each["id"]) for each in self.batch)


def requests_in(ledger: Sequence[Transaction]) -> list[Request]:
    """Return the batches that a client asked for, without those that were refused."""
    batches: dict[str, list[Transaction]] = defaultdict(list)
    for each in ledger:
        batches[each["batchID"]].append(each)
    trade_of = {each["id"]: str(each.get("tradeID", "")) for each in ledger}
    found = (_request(batch, trade_of) for batch in batches.values())
    return [each for each in found if each is not None]


def _request(  # noqa: PLR0911 - a table of the kinds
    batch: list[Transaction], trade_of: Mapping[str, str]
) -> Request | None:
    if any("REJECT" in each["type"] for each in batch):
        return None
    for each in batch:
        kind, reason = each["type"], each.get("reason")
        if reason == "TRADE_CLOSE":
            return Request(batch, ("close_trade", each["tradeClose"]["tradeID"]))
        if reason == "POSITION_CLOSEOUT":
            return Request(batch, ("close_position", each["instrument"]))
        if kind in ENTRY_ORDERS and reason == "CLIENT_ORDER":
            key = ("create", each["instrument"], str(Decimal(each["units"])))
            return Request(batch, key, each.get("clientExtensions", {}).get("id", ""))
        if kind in ENTRY_ORDERS and reason == "REPLACEMENT":
            return Request(batch, ("replace", str(each["replacesOrderID"])))
        if reason in {"CLIENT_ORDER", "REPLACEMENT"} and each.get("tradeID"):
            replaced = (str(one["replacesOrderID"]) for one in batch if "replacesOrderID" in one)
            return Request(batch, ("set_dependent_orders", str(each["tradeID"]), *replaced))
    for each in batch:
        if each["type"] == "ORDER_CANCEL" and each.get("reason") == "CLIENT_REQUEST":
            trade = trade_of.get(each["orderID"], "")
            return Request(batch, ("cancel", str(each["orderID"]), trade))
    return None


def disagreements(
    journalled: Mapping[str, Journalled], ledger: Sequence[Transaction]
) -> tuple[list[str], Counter[str]]:
    """Return where journal and ledger differ, and how many requests of each action the ledger has."""
    requests = requests_in(ledger)
    found: list[str] = []
    count: Counter[str] = Counter(request.key[0] for request in requests)
    by_id = Counter(request.client_id for request in requests if request.client_id)
    found += [f"{id_} executed {times} times" for id_, times in by_id.items() if times > 1]
    open_keys: Counter[tuple[str, ...]] = Counter()
    done_keys: Counter[tuple[str, ...]] = Counter()
    for id_, each in journalled.items():
        if id_ not in by_id and each.verdict in MAY_HAVE_HAPPENED:
            (done_keys if each.verdict == "done" else open_keys)[_key(each)] += 1
    claims: Counter[str] = Counter()
    for each in journalled.values():
        claims.update(each.claimed)
    found += [f"transaction {id_} claimed {n} times" for id_, n in claims.items() if n > 1]
    made: Counter[tuple[str, ...]] = Counter()
    for request in requests:
        if request.client_id:
            found += _of_own_order(request, journalled.get(request.client_id))
            continue
        key = _matching_key(request, done_keys + open_keys)
        made[key] += 1
        if made[key] > done_keys[key] + open_keys[key]:
            alike = [each for each in journalled.values() if _key(each) == key]
            found.append(
                f"in the ledger and not in the journal: {request.batch}; of the same there: {alike}"
            )
    for key, times in done_keys.items():
        if made[key] < times:
            found.append(f"Done in the journal, not in the ledger: {key}, {made[key]} of {times}")
    return found, count


def _of_own_order(request: Request, each: Journalled | None) -> list[str]:
    """Compare an order that carries the intent's id."""
    if each is None:
        return [f"no such intent: {request.batch}"]
    if (got := _key(each)) != request.key:
        return [f"journal {got}, ledger {request.key}"]
    if each.verdict not in MAY_HAVE_HAPPENED:
        return [f"{each.verdict} in the journal: {request.batch}"]
    if each.claimed and not each.claimed & request.ids:
        return [f"{each.intent['id']} claims {sorted(each.claimed)}: {request.batch}"]
    return []


def _key(each: Journalled) -> tuple[str, ...]:
    intent = each.intent
    if each.action == "create":
        body = intent["body"]
        return ("create", body["instrument"], str(Decimal(str(body["units"]))))
    return (each.action, str(intent["target"]))


def _matching_key(request: Request, known: Mapping[tuple[str, ...], int]) -> tuple[str, ...]:
    """Return the key in the journal's terms: a protective order is moved or taken away as an order or through its trade."""
    if request.key[0] == "set_dependent_orders":
        action, of_trade, *orders = request.key
        moved = (("replace", order) for order in orders)
        return next((key for key in moved if key in known), (action, of_trade))
    if request.key[0] != "cancel":
        return request.key
    _, order, trade = request.key
    by_trade = ("set_dependent_orders", trade)
    return by_trade if ("cancel", order) not in known and by_trade in known else ("cancel", order)


def _renamed(value: Any, own_names: Mapping[str, str]) -> Any:  # noqa: ANN401 - JSON
    match value:
        case dict():
            return {key: _renamed(each, own_names) for key, each in value.items()}
        case list():
            return [_renamed(each, own_names) for each in value]
        case str():
            return own_names.get(value, value)
        case _:
            return value


def _lines(folder: Path, pattern: str) -> list[dict[str, Any]]:
    """Every whole line of the files, as JSON."""
    found: list[dict[str, Any]] = []
    for path in folder.rglob(pattern):
        lines = path.read_text(errors="replace").split("\n")
        found += [json.loads(line) for line in lines if line.startswith("{") and line[-1] == "}"]
    return found
