"""Watching an account's alerts: values in, firings out. Headless: the desk and `keydesk watch` both run it.

Prices are evaluated as they arrive; firings are claimed and delivered by the `AlertWriter`.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from msgspec.structs import replace

from keydesk.alerts.alert_list import (
    AlertList,
    Change,
    expire_alerts,
    mark_watched,
    restart_market,
    set_alert_state,
)
from keydesk.alerts.alert_records import AlertRecords, AlertWriter, Deliver, Done, Tell
from keydesk.alerts.readings import BrokerClock, PriceReadings, facts_of, values_of
from keydesk.calc.alerts.alert import Alert, Firing
from keydesk.calc.alerts.candle_conditions import CandleCondition
from keydesk.calc.alerts.condition_base import Facts, Reading
from keydesk.calc.alerts.engine import AlertEngine, PriceHistory, after_firing, missed_crossing
from keydesk.calc.alerts.fact_conditions import FactsCondition
from keydesk.calc.alerts.price_conditions import PriceCondition, QuoteCondition
from keydesk.store.state import Candle, Topic
from keydesk.store.store import Store
from keydesk.values import Quote
from keydesk_client.arithmetic.constants import SECOND

CHECK_INTERVAL = 1.0  # seconds between two looks at the records
SEEN_EVERY = 30 * SECOND
SAMPLED_NS = SECOND  # within which two programs read the same value of the account
USUAL_PRECISION = 5  # decimals of a price
LATE_NS = 60 * SECOND  # after which a firing is reported as one that happened while nothing watched


class AlertWatch:
    """The alerts of one account while its prices come in.

    Args:
        store: The state of account and market; its alerts are set here.
        kept: The alerts of the account.
        deliver: Called with each firing: by the desk that claimed it, or another one that saw it written.
        notify: Shows a message about the records.
    """

    def __init__(self, store: Store, kept: AlertRecords, deliver: Deliver, notify: Tell) -> None:
        self.store, self.kept = store, kept
        self.engine = AlertEngine()
        # Since when prices were not watched: while it is set, they wait until candles have filled the gap.
        self.gap: int | None = None
        self.restart_count = 0  # how often the market began anew
        self._held = False  # while another market begins, nothing is evaluated
        self._watched_since_ns = 0  # the broker's time since when nothing was missed; 0: not known
        self.writer = AlertWriter(kept, self._take, deliver, notify)
        self._prices: dict[str, PriceReadings] = {}
        self._candle_ends: dict[Reading, int] = {}
        self._clock = BrokerClock()
        self._checked_at = float("-inf")

    # The list.

    async def run(self) -> None:
        """Read the list and carry out jobs until cancelled."""
        await self.writer.load()
        price_conditions = [each for each in self.kept.alert_list.alerts if _is_of_price(each)]
        if price_conditions:
            first = min(each.made_ns for each in price_conditions)
            self.gap = max(self.kept.alert_list.seen_ns, first)
        await self.writer.run()

    def change(self, change: Change, done: Done = lambda _: None) -> None:
        """Queue a change of the list; `done` gets why it was refused, "" if it was made."""
        self.writer.change(change, done)

    async def settled(self) -> None:
        """Wait until everything was written and delivered."""
        await self.writer.settled()

    def _take(self, alert_list: AlertList) -> None:
        self.store.alerts = {each.id: each for each in alert_list.alerts}
        self.store.alert_history = list(alert_list.history)
        alerts = {each.id: each for each in alert_list.alerts}
        for firing in self.writer.waiting:
            if (alert := alerts.get(firing.alert.id)) is not None:
                alerts[alert.id] = after_firing(alert, firing.until_ns)
        self.engine.replace(alerts.values(), self.store.now_ns - LATE_NS)
        self._watch_prices()
        self.store.mark(Topic.ALERTS)

    # Values.

    def _watch_prices(self) -> None:
        """Listen to the prices of the instruments that alerts are about."""
        wanted: dict[str, dict[Reading, QuoteCondition]] = {}
        for reading, condition in self.engine.readings.items():
            if isinstance(condition, QuoteCondition):
                wanted.setdefault(condition.instrument, {})[reading] = condition
        for name in self._prices.keys() - wanted.keys():
            del self._prices[name]
            self.store.price_watch.pop(name, None)
        for name, conditions in wanted.items():
            prices = self._prices.setdefault(name, PriceReadings(self.store, name))
            prices.watch(conditions)
            self.store.price_watch[name] = self._evaluate_quote
        watched = [each for each in self.store.alerts.values() if each.state == "on"]
        levels: dict[str, list[tuple[Decimal, str]]] = {}
        for each in watched:
            if isinstance(each.condition, PriceCondition):
                condition = each.condition
                levels.setdefault(condition.instrument, []).append(
                    (condition.level, condition.side)
                )
        self.store.alert_levels = {name: tuple(found) for name, found in levels.items()}
        names = dict.fromkeys(filter(None, (each.condition.instrument for each in watched)))
        if tuple(names) != self.store.alert_instruments:
            self.store.alert_instruments = tuple(names)
            self.store.mark(Topic.INSTRUMENTS)

    def _evaluate_quote(self, quote: Quote) -> None:
        """Judge a price; those in a gap wait for its candles."""
        if self.gap is not None or self._held:
            return
        for reading, value in self._prices[quote.instrument].values(quote):
            if firings := self.engine.evaluate(reading, value, quote.time_ns):
                self._claim(firings, quote)

    def _claim(
        self, firings: Iterable[Firing], quote: Quote | None = None, *, late: bool = False
    ) -> None:
        """Queue firings, with the values that were read in words."""
        named = []
        for each in firings:
            condition, value = each.alert.condition, each.value
            if quote is not None and isinstance(condition, QuoteCondition):
                value = condition.told_value(value, quote)
            known = self.store.instruments.get(condition.instrument)
            precision = USUAL_PRECISION if known is None else known.display_precision
            text = condition.reached_text(value, precision)
            named.append(replace(each, value_text=text, late=late))
        self.writer.claim(named)

    def check(self, now: float) -> None:
        """Judge every value other than prices, once a frame; check the records once a second."""
        if self._is_of_another_account():
            self.restart_market()
        if self._held:
            return
        clock = self._clock.at(self.store, now)
        if self.gap is None and not self._watched_since_ns:
            self._watched_since_ns = clock
        facts = facts_of(self.store, now, clock)
        for reading, condition in self.engine.readings.items():
            if isinstance(condition, FactsCondition):
                self._evaluate_fact(reading, condition, facts)
        if now - self._checked_at >= CHECK_INTERVAL:
            self._checked_at = now
            self._look_after_list(facts, now)

    def _is_late(self, time_ns: int, clock_ns: int) -> bool:
        """Return whether something happened while nothing watched; a step of a practice market is watched, however long."""
        since = self._watched_since_ns
        return clock_ns - time_ns > LATE_NS and not 0 < since < time_ns

    def _evaluate_fact(self, reading: Reading, condition: FactsCondition, facts: Facts) -> None:
        value, value_ns = condition.read(facts), condition.value_time_ns(facts)
        if value is None or (condition.FIRST_SIDE is not None and self._is_other_market):
            return  # a time of another market is none of this one
        if value_ns is not None:
            firings = self.engine.evaluate(reading, value, value_ns)
        else:
            firings = self.engine.evaluate(reading, value, facts.now_ns, SAMPLED_NS)
        for each in firings:
            lateness = each.alert.condition.lateness_ns(facts.now_ns)
            late = self._is_late(facts.now_ns - lateness, facts.now_ns)
            self._claim([each], late=late)

    def _look_after_list(self, facts: Facts, now: float) -> None:
        clock = facts.now_ns
        alert_list = self.kept.alert_list
        if self.kept.has_changed():
            self.change(lambda alert_list: alert_list)
        self.writer.take_over()
        if not clock or not alert_list.alerts:
            return
        if self.gap is None and clock - alert_list.seen_ns >= SEEN_EVERY:
            self.change(self.watched_until(self._watched_until_ns(now)))
        if expire_alerts(clock)(alert_list) != alert_list:
            self.change(expire_alerts(clock))
        for each in alert_list.alerts:
            if each.state == "on" and each.condition.is_over(facts):
                self.change(set_alert_state(each.id, "expired"))

    def watched_until(self, clock_ns: int) -> Change:
        """Return the change that notes up to when prices were watched."""
        sides = {
            each.id: side
            for each in self.store.alerts.values()
            if _is_of_price(each) and (side := self.engine.side_of(each.id)) is not None
        }
        return mark_watched(clock_ns, sides)

    def _watched_until_ns(self, now: float) -> int:
        """Return up to when prices were watched: the other stream moves the clock, too."""
        received_at = self.store.health.prices_at
        silent = 0.0 if received_at is None else max(0.0, now - received_at)
        return self.store.clock_ns - int(silent * SECOND)

    def close(self, now: float) -> None:
        """Write up to when prices were watched; called when the desk is left."""
        if self.store.clock_ns and self.kept.alert_list.alerts and self.gap is None:
            self.kept.change(self.watched_until(self._watched_until_ns(now)))

    # Another market, as a replay begins it.

    def hold(self) -> None:
        """Judge nothing until the market that is beginning is known."""
        self._held = True

    def restart_market(self) -> None:
        """Reset for a market that was restarted: prices seen before do not count for crossings."""
        self._held, self.gap = False, None
        self._watched_since_ns = 0
        self.restart_count += 1
        self._candle_ends.clear()
        for name in self._prices:
            self.store.price_watch.pop(name, None)
        self._prices.clear()
        for reading in self.engine.readings:
            self.engine.forget_sides(reading)
        self._watch_prices()
        account = self.store.account
        created = 0 if account is None else account.created_time_ns
        left = self.kept.alert_list.account_ns

        def done(_refusal: str) -> None:
            seen_ns = self.kept.alert_list.seen_ns
            if left not in (0, created) and seen_ns < self.store.clock_ns:
                self.gap = seen_ns  # back in the account that was left

        self.change(restart_market(created, self.store.clock_ns), done)

    def _is_of_another_account(self) -> bool:
        """Return whether the account is not the one whose prices were seen; note it where none is known."""
        account = self.store.account
        if (
            not self.writer.is_loaded
            or account is None
            or not self.store.clock_ns
            or self.writer.has_jobs
        ):
            return False
        if not self.kept.alert_list.account_ns and account.created_time_ns:
            self.change(restart_market(account.created_time_ns, self.store.clock_ns))
        return self._is_other_market

    @property
    def _is_other_market(self) -> bool:
        """Whether the clock may be that of another market than the one that was watched."""
        known, account = self.kept.alert_list.account_ns, self.store.account
        return bool(known) and (account is None or account.created_time_ns != known)

    def clock_went_back(self) -> bool:
        """Return whether the broker's time is before the one at which prices were lost: a checkpoint was restored."""
        return self.gap is not None and 0 < self.store.clock_ns < self.gap - LATE_NS

    # What happened while nothing was watched.

    def note_interruption(self) -> None:
        """Note that prices were lost from the last one on."""
        self._watched_since_ns = 0
        times = [
            quote.time_ns
            for name in self.store.alert_levels
            if (quote := self.store.quotes.get(name)) is not None and quote.time_ns
        ]
        if self.gap is None and times:
            self.gap = min(times)

    def price_alerts(self) -> Mapping[str, Sequence[Alert]]:
        """Return the alerts on prices by instrument whose candles are wanted."""
        missing_alerts: dict[str, list[Alert]] = {}
        for each in self.store.alerts.values():
            if each.state == "on" and _is_of_price(each):
                missing_alerts.setdefault(each.condition.instrument, []).append(each)
        return missing_alerts

    def evaluate_periods(
        self, alerts: Iterable[Alert], histories: Mapping[str, PriceHistory]
    ) -> None:
        """Judge the prices of a gap, by side: "bid", "ask", "mid"."""
        for alert in alerts:
            condition, level = alert.condition, alert.condition.level
            if self.engine.alert(alert.id) is None or not isinstance(condition, PriceCondition):
                continue
            side = self.engine.side_of(alert.id)
            side = self.kept.alert_list.sides.get(alert.id) if side is None else side
            history = histories[condition.side]
            missed = missed_crossing(alert, level, history, side)
            last_ns = history.last_ns or self.gap or 0
            self.engine.replace_side(alert.id, missed.side, last_ns)
            if missed.period is not None:
                start = missed.period.time_ns
                until = min(missed.period.end_ns, self._price_ns(condition.instrument))
                firing = Firing(alert, start, level, start - 1, max(start, until))
                self.engine.note_firing(firing)
                self._claim([firing], late=True)

    def _price_ns(self, instrument: str) -> int:
        quote = self.store.quotes.get(instrument)
        return self.store.clock_ns if quote is None else quote.time_ns

    def end_gap(self) -> None:
        """Judge prices again as they come, beginning with the newest ones."""
        self.gap = None
        for name in self._prices:
            if (quote := self.store.quotes.get(name)) is not None:
                self._evaluate_quote(quote)

    def apply_candles(
        self, conditions: Iterable[CandleCondition], candles: Sequence[Candle]
    ) -> None:
        """Judge complete candles, oldest first."""
        clock = self.store.clock_ns
        for condition in conditions:
            reading = condition.reading
            after = self._candle_ends.get(reading, self.kept.alert_list.seen_ns or clock)
            for end_ns, value in values_of(condition, candles, after):
                firings = list(self.engine.evaluate(reading, value, end_ns))
                fresh = [each for each in firings if end_ns > max(after, each.alert.made_ns)]
                self._claim(fresh, late=self._is_late(end_ns, clock))
                self._candle_ends[reading] = max(end_ns, self._candle_ends.get(reading, 0))


def _is_of_price(alert: Alert) -> bool:
    return isinstance(alert.condition, PriceCondition)
