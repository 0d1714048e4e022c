"""The way out and back: what is shown while it lasts, what goes through the door, what is told."""

import dataclasses
import json
from pathlib import Path

from msgspec.structs import replace

from keydesk.keys.keymap import KeyMap
from keydesk.store.store import Store
from keydesk.trading.audit import AuditLog
from keydesk.trading.desk_session import DeskSession
from keydesk.trading.dispatcher import Dispatcher
from keydesk.trading.executions import ExecutionLog, read_executions
from keydesk.trading.notifications import Notifier
from keydesk.values import Command, DependentOrder
from keydesk_client.orders.outcome import (
    Ambiguous,
    Done,
    NotSent,
    Outcome,
    Rejected,
    Sending,
    Unconfirmed,
    Unknown,
)
from support.data.desk_store import D, example_store, long_euro
from support.data.outcomes import done, intent, opening_fill
from support.fakes.recording_gate import RecordingGate

COMMAND = Command(
    "BUY 50,000 EUR/USD at market", "B", "kd-1", expected=D("1.08500"), pip=D("0.0001")
)


class Desk:
    """A store, a door that keeps what came, and a clock that turns by pausing."""

    def __init__(self, audit: AuditLog | None = None) -> None:
        self.store: Store = example_store()
        self.gate = RecordingGate()
        self.time = 100.0
        self.dispatcher = Dispatcher(
            self.store,
            self.gate,
            audit=audit,
            now=lambda: self.time,
            wall_ns=lambda: 1_772_000_000_000_000_000,
            protection_timeout=0.0,
        )

    @property
    def came(self) -> list[str]:
        return [each.id for each in self.gate.came]

    @property
    def words(self) -> list[str]:
        return [notice.text for notice in self.store.notices]


async def after(seconds: float, outcome: Outcome, desk: Desk) -> Outcome:
    desk.time += seconds
    return outcome


async def test_under_way_is_shown_until_it_is_settled() -> None:
    desk = Desk()
    seen: list[str] = []

    async def answer() -> Outcome:
        seen.extend(each.line for each in desk.store.in_flight.values())
        return done(opening_fill())

    await desk.dispatcher.send(COMMAND, answer())
    assert seen == ["BUY 50,000 EUR/USD at market: sent"]
    assert desk.store.in_flight == {}


async def test_every_transaction_of_the_answer_goes_through_the_door() -> None:
    desk = Desk()
    await desk.dispatcher.send(COMMAND, after(0.143, done(opening_fill()), desk))
    assert desk.came == ["6419"]


async def test_a_fill_is_told_with_its_protection_once_that_is_known() -> None:
    desk = Desk()
    desk.store.trades["6419"] = long_euro()
    desk.store.trades["6419"].stop_loss = DependentOrder("6420", D("1.08300"))
    desk.store.trades["6419"].take_profit = None
    account = desk.store.account
    assert account is not None
    account.last_transaction_id = 6421
    await desk.dispatcher.send(COMMAND, after(0.143, done(opening_fill()), desk))
    assert desk.words == [
        "FILLED 50,000 EUR/USD @ 1.08502 0.2 pip worse 143 ms #6419 stop 1.08300 set"
    ]


async def test_a_fill_without_any_stop_is_told_as_a_warning() -> None:
    desk = Desk()
    trade = long_euro()
    trade.stop_loss = trade.take_profit = None
    desk.store.trades["6419"] = trade
    await desk.dispatcher.send(COMMAND, after(0.143, done(opening_fill()), desk))
    assert desk.words[0].endswith("NO STOP: P protects")
    assert desk.store.notices[0].level == "warn"


async def test_unknown_is_shown_while_it_is_looked_up_and_settles() -> None:
    desk = Desk()
    desk.dispatcher.on_progress(Sending(intent()))
    desk.dispatcher.on_progress(Unknown(intent(), "read timed out", look_ups=2))
    [record] = desk.store.in_flight.values()
    line = "UNKNOWN BUY 50,000 EUR/USD market: read timed out, looking it up (look 2)"
    assert record.line == line
    desk.dispatcher.on_progress(done(opening_fill()))
    assert desk.store.in_flight == {}


async def test_what_the_broker_answered_is_told_while_the_command_is_looked_up() -> None:
    desk = Desk()
    full = "503: Nothing was executed: the ledger cannot be written: make room"
    desk.dispatcher.on_progress(Unknown(intent(), full))
    [record] = desk.store.in_flight.values()
    assert record.line == f"UNKNOWN BUY 50,000 EUR/USD market: {full}, looking it up"


async def test_an_order_whose_answer_is_lost_stays_one_line() -> None:
    desk = Desk()
    seen: list[str] = []

    async def answer() -> Outcome:
        desk.dispatcher.on_progress(Sending(intent()))
        desk.dispatcher.on_progress(Unknown(intent(), "read timed out", look_ups=1))
        seen.extend(each.line for each in desk.store.in_flight.values())
        return done(opening_fill())

    await desk.dispatcher.send(COMMAND, answer())
    assert seen == ["UNKNOWN BUY 50,000 EUR/USD at market: read timed out, looking it up (look 1)"]
    assert desk.store.in_flight == {}


async def test_unconfirmed_stays_on_the_screen_until_it_shows_up() -> None:
    desk = Desk()
    lost = Unconfirmed(intent(), "not found")

    async def answer() -> Outcome:
        desk.dispatcher.on_progress(lost)
        return lost

    await desk.dispatcher.send(COMMAND, answer())
    assert [each.state for each in desk.store.in_flight.values()] == ["unconfirmed"]
    found: Done = done(opening_fill())
    desk.dispatcher.on_progress(found)
    desk.dispatcher.on_late_outcome(found)
    assert desk.store.in_flight == {}
    assert desk.came == ["6419"]
    assert "TOOK EFFECT LATE: BUY 50,000 EUR/USD market was filled" in desk.words[-1]


async def test_a_late_reject_is_no_alarm() -> None:
    desk = Desk()
    code = "TRADE_DOESNT_EXIST"
    desk.dispatcher.on_late_outcome(Rejected(intent(), code, code, code, looked_up=True))
    assert desk.store.notices[-1].level == "info"
    assert "the broker had rejected it after all: " in desk.words[-1]


async def test_a_request_whose_trade_was_closed_first_was_not_rejected_by_the_broker() -> None:
    desk = Desk()
    message = "the trade was closed first: MARKET_ORDER_TRADE_CLOSE"
    desk.dispatcher.on_late_outcome(Rejected(intent(), message, looked_up=True))
    assert desk.store.notices[-1].level == "info"
    assert desk.words[-1].endswith(": it had no effect: the trade was closed first: closed by you")


async def test_what_was_sent_and_what_became_of_it_is_in_the_audit_log(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    desk = Desk(AuditLog(path, wall_ns=lambda: 7))
    desk.dispatcher.on_progress(Sending(intent()))
    await desk.dispatcher.send(COMMAND, after(0.1, done(opening_fill()), desk))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["what"] for line in lines] == ["sending", "outcome"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_full_disk_never_stands_before_an_exit(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "no such folder" / "audit.jsonl")
    log.write("decided", "close")
    assert log.failed


async def test_an_audit_log_that_is_not_kept_is_told_once_and_orders_go_on(tmp_path: Path) -> None:
    path = tmp_path / "no such folder" / "audit.jsonl"
    desk = Desk(AuditLog(path))
    desk.dispatcher.on_progress(Sending(intent()))
    outcome = await desk.dispatcher.send(
        COMMAND,
        after(0.1, done(opening_fill()), desk),
    )
    assert isinstance(outcome, Done)
    told = [text for text in desk.words if "audit log" in text]
    assert told == [
        f"The audit log cannot be written: No such file or directory: {path}; its folder is missing. Orders are sent without it."
    ]


def test_an_exit_that_left_without_a_journal_is_told() -> None:
    desk = Desk()
    desk.dispatcher.on_progress(Sending(intent(), "[Errno 28] No space left on device"))
    assert desk.words[-1].endswith("NOT JOURNALLED ([Errno 28] No space left on device)")


def test_a_notice_bears_the_time_it_was_said_at_even_when_the_broker_fell_silent() -> None:
    desk = Desk()
    desk.store.clock_ns = 1_771_999_000_000_000_000
    desk.dispatcher.notify("bad", "NOT SENT")
    assert desk.store.notices[-1].time_ns == 1_772_000_000_000_000_000


async def test_the_warning_of_a_missing_stop_is_over_once_the_trade_has_one() -> None:
    desk = Desk()
    trade = long_euro()
    stop, trade.stop_loss = trade.stop_loss, None
    desk.store.trades["6419"] = trade
    await desk.dispatcher.send(COMMAND, after(0.143, done(opening_fill()), desk))
    assert "NO STOP" in desk.words[0]
    notifier = Notifier(desk.store)
    notifier.on_transaction(opening_fill())
    assert desk.store.notices[0].waits
    trade.stop_loss = stop
    notifier.on_transaction(opening_fill())
    assert not desk.store.notices[0].waits


async def test_what_to_press_again_is_the_traders_own_key() -> None:
    desk = Desk()
    desk.dispatcher.keymap = KeyMap(overrides={"buy": "K", "protect": "J"})
    not_sent = NotSent(intent(), "no connection")
    await desk.dispatcher.send(
        replace(COMMAND, again="buy"),
        after(0.1, not_sent, desk),
    )
    assert desk.words[-1].endswith("no connection. Again: K")
    trade = long_euro()
    trade.stop_loss = trade.take_profit = None
    desk.store.trades["6419"] = trade
    await desk.dispatcher.send(COMMAND, after(0.1, done(opening_fill()), desk))
    assert desk.words[-1].endswith("NO STOP: J protects")


async def test_an_outcome_is_kept_before_anything_is_waited_for_and_its_notice_names_it(
    tmp_path: Path,
) -> None:
    desk, session, next_one = Desk(), *(DeskSession(tmp_path, "001") for _ in range(2))
    session.open()
    desk.dispatcher.session = session
    desk.dispatcher.on_progress(Sending(intent()))
    desk.dispatcher.on_progress(done(opening_fill()))
    session.close()
    next_one.open()
    (kept,) = next_one.pop_left_over().values()
    assert (kept.level, kept.text[:32]) == ("good", "FILLED 50,000 EUR/USD @ 1.08502 ")
    await desk.dispatcher.send(COMMAND, after(0.1, done(opening_fill()), desk))
    assert desk.store.notices[-1].outcome == "kd-1", "read once this notice was painted"


async def test_a_fill_that_a_look_up_found_stays_until_it_was_seen() -> None:
    desk = Desk()
    trade = long_euro()
    desk.store.trades = {"6419": dataclasses.replace(trade, id="6419")}
    for looked_up in (False, True):
        filled = dataclasses.replace(done(opening_fill()), looked_up=looked_up)
        await desk.dispatcher.send(COMMAND, after(0.1, filled, desk))
        notice = desk.store.notices[-1]
        assert (notice.level, notice.waits) == ("good", looked_up)


async def test_what_like_requests_did_goes_through_the_door_and_settles_the_line() -> None:
    desk = Desk()
    like = Ambiguous(intent(), (done(opening_fill()), Rejected(intent(), "refused")), ("kd-2",))
    desk.dispatcher.on_progress(Unconfirmed(intent(), "not found", like))
    assert len(desk.store.in_flight) == 1
    desk.dispatcher.on_progress(like)
    desk.dispatcher.on_late_outcome(like)
    assert desk.store.in_flight == {}
    assert desk.came == ["6419"]
    assert desk.words[-1].startswith("TOOK EFFECT LATE: ONE OF 2 IDENTICAL REQUESTS")
    await desk.dispatcher.send(COMMAND, after(0.1, like, desk))
    assert desk.words[-1].startswith("ONE OF 2 IDENTICAL REQUESTS")


async def test_slippage_and_the_time_to_acknowledge_are_kept(tmp_path: Path) -> None:
    desk = Desk()
    desk.dispatcher.executions = ExecutionLog(tmp_path / "a.executions")
    filled = done(opening_fill())
    for outcome in (
        filled,
        dataclasses.replace(filled, looked_up=True),
        NotSent(intent(), "no way out"),
    ):
        await desk.dispatcher.send(COMMAND, after(0.143, outcome, desk))
    first, lost = read_executions(tmp_path / "a.executions")
    assert (first.instrument, first.kind, first.result) == ("EUR_USD", "open", "filled")
    assert first.slippage == D("0.2")
    assert round(first.milliseconds or 0) == 143
    assert (lost.milliseconds, lost.slippage) == (None, D("0.2"))
