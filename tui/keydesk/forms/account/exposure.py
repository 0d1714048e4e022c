"""The page of exposure: by currency, if all stops are hit, and the risk of what is held together by its correlation."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from keydesk.calc.risk.exposure import (
    ENOUGH,
    LEAST,
    STRONG,
    Closes,
    Correlation,
    Holding,
    SignedRisk,
    correlations,
    effective_risk,
)
from keydesk.forms.account.live_page import LivePage
from keydesk.forms.details_form import Rows, StyledText
from keydesk.store.frame import Frame
from keydesk.store.store import Store
from keydesk.store.trading_context import holdings_of, trading_context_of
from keydesk.store.unknown import are_trades_known
from keydesk.text.format import UNLIMITED, counted, money, pair, percent, pips, units
from keydesk.text.sanitize import Printable, clean_name, safe
from keydesk.values import AccountState, TradeRow
from keydesk_client.arithmetic.constants import ZERO

TENTH = Decimal("0.1")
SIDE = 6  # cells of a bar on either side of the axis
MAX_NAMED = 6  # trades
GAP = ("", "")  # between two sections
MAX_HELD = 12  # instruments whose correlation is shown


class ExposurePage(LivePage):
    """Exposure and combined risk of what is held.

    Args:
        store: The state of account and market.
        now: Monotonic seconds.
        read: Reads the hourly closes of instruments and hands them to `show_closes`.
    """

    def __init__(
        self,
        store: Store,
        now: Callable[[], float],
        read: Callable[["ExposurePage", Sequence[str]], None] = lambda _page, _names: None,
    ) -> None:
        self._store, self._now, self._read = store, now, read
        self._instruments_read: Sequence[str] = ()
        self._known: Sequence[Correlation] | None = None
        super().__init__("Exposure by currency")

    def compute(self) -> Rows:
        """Return the exposure, then the risk together."""
        rows = exposure_rows(self._store, self._now())
        held = held_instruments(self._store)
        return [*rows, *risk_rows(self._store, held, self._known)] if held else rows

    def on_mount(self) -> None:
        """Read the candles of what is held."""
        super().on_mount()
        self._read_held()

    def on_frame(self, frame: Frame) -> None:
        """Follow the prices; the candles of what is opened now are read, too."""
        self._read_held()
        super().on_frame(frame)

    def _read_held(self) -> None:
        held = held_instruments(self._store)
        if set(held) - set(self._instruments_read) and len(held) > 1:
            self._read(self, held)
        self._instruments_read = held

    def show_closes(self, closes: Mapping[str, Closes]) -> None:
        """Show the correlation of these hourly closes."""
        self._known = correlations(closes)
        self.show_now()


def held_instruments(store: Store) -> Sequence[str]:
    """Return the instruments with open trades, those with the most margin first, as many as are compared."""
    held = {trade.instrument for trade in store.trades.values()}

    def margin(name: str) -> Decimal:
        position = store.positions.get(name)
        return ZERO if position is None else position.margin_used or ZERO

    return sorted(held, key=lambda name: (-margin(name), name))[:MAX_HELD]


def exposure_rows(store: Store, now: float) -> Rows:
    """Return what is held of each currency in its units and in home currency, and the loss if all stops are hit."""
    account = store.account
    if account is None:
        return [("account", "is still being read")]
    if not are_trades_known(store):
        return [("exposure", "not known: a trade could not be read")]
    held, worth = _held(store, now)
    if not held:
        return [("exposure", "none: no position is open")]
    gross = max((abs(value) for value in worth.values()), default=ZERO)
    largest_first = sorted(held, key=lambda each: -abs(worth.get(each, ZERO)))
    amounts = [units(held[each].quantize(TENTH), signed=True) for each in largest_first]
    homes = [money(worth.get(each, ZERO), 0, signed=True) for each in largest_first]
    widths = max(map(len, amounts)), max(map(len, homes))
    rows: Rows = []
    for currency, amount, home in zip(largest_first, amounts, homes, strict=True):
        value = worth.get(currency, ZERO)
        share = f"{percent(value / account.nav, 0, signed=True):>4} %" if account.nav > 0 else ""
        side = "long" if held[currency] > 0 else "short"
        filled = two_sided_bar(value / gross) if gross else ""
        text = f"{amount:>{widths[0]}}  {home:>{widths[1]}} {account.currency} {share} {filled}"
        rows.append((safe(f"{currency} {side}"), text))
    total = sum(worth.values(), ZERO)
    rows.append(("sum of all", f"{money(total, signed=True)} {account.currency}, at mid prices"))
    return [*rows, *_stop_rows(store, account)]


def _held(store: Store, now: float) -> tuple[Mapping[str, Decimal], Mapping[str, Decimal]]:
    """Return units and home value by currency; both sides of a position are worth the same."""
    held: dict[str, Decimal] = {}
    worth: dict[str, Decimal] = {}
    for each in holdings_of(store):
        context = trading_context_of(store, each.instrument, now)
        if context is None:
            continue
        value = each.units * each.mid * context.factors.value
        for currency, amount, home in _two_sides(each, value):
            held[currency] = held.get(currency, ZERO) + amount
            worth[currency] = worth.get(currency, ZERO) + home
    return held, worth


def _two_sides(each: Holding, value: Decimal) -> Sequence[tuple[str, Decimal, Decimal]]:
    return (each.base, each.units, value), (each.quote, -each.units * each.mid, -value)


def two_sided_bar(share: Decimal) -> str:
    """Return a bar from an axis to the right for a long share, to the left for a short one; -1 to 1."""
    cells = min(SIDE, int(abs(share) * SIDE + Decimal("0.5")))
    left, right = ("█" * cells, "") if share < 0 else ("", "█" * cells)
    return f"{left:>{SIDE}}│{right:<{SIDE}}"


def _stop_rows(store: Store, account: AccountState) -> Rows:
    """Return what the account is worth once every stop has been hit; trades without one keep their value, and have no limit.

    Of several stops of a trade, the nearest one is hit: usual, trailing or guaranteed.
    """
    stopped = [trade for trade in store.trades.values() if trade.risk is not None]
    result = sum((_result_at_stop(trade) for trade in stopped), ZERO)
    floating = sum((trade.unrealized_pl or ZERO for trade in stopped), ZERO)
    unprotected = len(store.trades) - len(stopped)
    more = f"; {unprotected} without a stop stay open" if unprotected else ""
    home = account.currency
    unlimited: Rows = []
    if account.unprotected_trades:
        text = f"{UNLIMITED}: {counted(account.unprotected_trades, 'trade')} without a stop"
        unlimited = [("open risk", StyledText(safe(text), "danger"))]
    if not stopped:
        return unlimited
    after = account.nav - floating + result
    share = (
        f", {percent((after - account.nav) / account.nav, signed=True)} %"
        if account.nav > 0
        else ""
    )
    return [
        GAP,
        *unlimited,
        ("if all stops are hit", f"{money(result, signed=True)} {home} from the entries{more}"),
        *_stop_kinds(stopped, home),
        ("NAV after that", f"{money(after)} {home}{share}"),
    ]


def _result_at_stop(trade: TradeRow) -> Decimal:
    return (trade.locked or ZERO) - (trade.risk or ZERO)


def _stop_kinds(stopped: Sequence[TradeRow], home: str) -> Rows:
    """Return how much of it is at guaranteed and at trailing stops; other stops may fill worse in a gap."""
    kinds = (
        ("at guaranteed stops", [each for each in stopped if each.guaranteed_stop is not None]),
        ("at trailing stops", [each for each in stopped if each.trailing_stop is not None]),
    )
    rows: Rows = []
    for name, trades in kinds:
        if trades:
            result = sum(map(_result_at_stop, trades), ZERO)
            summary = f"{money(result, signed=True)} {home} of it, {counted(len(trades), 'trade')}"
            rows.append((safe(name), summary))
    return rows


# Risk together.


def risk_rows(store: Store, held: Sequence[str], known: Sequence[Correlation] | None) -> Rows:
    """Return the effective risk of open trades, and the correlation of every two instruments."""
    account = store.account
    if account is None or len(held) < 2:  # noqa: PLR2004 - one instrument has no other to move with
        return []
    if known is None:
        return [("effective risk", StyledText("hourly candles are being read …", "muted"))]
    risks = _signed_risks(store, held)
    risk, home = effective_risk(risks, known), account.currency
    unknown = (
        f"; {counted(risk.unknown, 'pair')} not known, counted as fully correlated"
        if risk.unknown
        else ""
    )
    unlimited = f"{UNLIMITED}; with a stop " if account.unprotected_trades else ""
    rows: Rows = [
        GAP,
        (
            "effective risk",
            f"{unlimited}{money(risk.together)} {home}; {money(risk.added)} if each is lost on its own{unknown}",
        ),
        *_left_out_rows(store),
        (
            "correlation",
            StyledText("hourly, over the last 120 hours; grey: too few hours to rely on", "muted"),
        ),
    ]
    by_strength = sorted(known, key=lambda each: -abs(each.value or 0))
    return [*rows, *(_pair_row(each, risks) for each in by_strength)]


def _left_out_rows(store: Store) -> Rows:
    """Return which trades the effective risk leaves out: without a stop their loss has no limit."""
    unprotected = [each for each in store.trades.values() if each.risk is None]
    if not unprotected:
        return []
    names = ", ".join(
        f"#{clean_name(each.id)} {pair(each.instrument)}" for each in unprotected[:MAX_NAMED]
    )
    more = f" and {len(unprotected) - MAX_NAMED} more" if len(unprotected) > MAX_NAMED else ""
    return [("not counted", StyledText(safe(f"{names}{more}: no stop, no limit"), "warn"))]


def _signed_risks(store: Store, held: Sequence[str]) -> Sequence[SignedRisk]:
    risks = []
    for name in held:
        trades = [each for each in store.trades.values() if each.instrument == name]
        amounts = ((trade.risk or ZERO) * (1 if trade.units > 0 else -1) for trade in trades)
        risks.append(SignedRisk(name, sum(amounts, ZERO)))
    return risks


def _pair_row(each: Correlation, risks: Sequence[SignedRisk]) -> tuple[Printable, str]:
    name = safe(f"{pair(each.first)} {pair(each.second)}")
    if each.value is None:
        few = f"not known, {each.returns} hours in common, {LEAST} needed"
        return name, StyledText(few, "faint")
    text = f"{pips(Decimal(f'{each.value:.2f}'), 2)} {two_sided_bar(Decimal(f'{each.value:.4f}'))} {each.returns} hours"
    if not each.is_enough:
        return name, StyledText(f"{text} of {ENOUGH}", "faint")
    signs = {risk.instrument: risk.amount for risk in risks}
    same_way = each.value * float(signs.get(each.first, 0)) * float(signs.get(each.second, 0)) > 0
    if abs(each.value) > STRONG and same_way:
        return name, StyledText(f"{text}, lose together", "warn")
    return name, text
