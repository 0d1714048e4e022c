"""The order protocol: sent once, looked up when the answer is lost, never doubled, never declared failed unseen."""

import asyncio
import json
import resource
import shutil
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from keydesk_client import sync
from keydesk_client.errors import InvalidRequest, InvalidSettings
from keydesk_client.models import (
    ClientExtensions,
    Instrument,
    LimitOrderRequest,
    MarketOrderRequest,
    Reader,
    StopLossDetails,
)
from keydesk_client.models._core.json import JsonObject, JsonValue
from keydesk_client.orders.journal import FileJournal
from keydesk_client.orders.outcome import (
    Action,
    Done,
    Intent,
    MonotonicTime,
    NotSent,
    OrderResult,
    Outcome,
    Progress,
    Rejected,
    Sending,
    Unconfirmed,
    monotonic_time,
)
from keydesk_client.orders.sender import Sender
from keydesk_client.resources._defaults import TimeFormat
from support.fakes.lossy_broker import Fate, LossyBroker
from support.fakes.lossy_desk import CLOCK, Desk, at_desk, buy, outcome_of, sent, transactions_of
from support.fakes.virtual_time import run

LOST = [Fate.LOST_ANSWER, Fate.FAILED_YET_DONE, Fate.UNREADABLE_YET_DONE]


ACTS: dict[str, Callable[[Sender], Awaitable[Outcome]]] = {
    "create": lambda sender: sender.create(buy()),
    "create resting": lambda sender: sender.create(
        LimitOrderRequest(instrument="EUR_USD", units=100, price="1.05")
    ),
    "replace": lambda sender: sender.replace(
        "7", LimitOrderRequest(instrument="EUR_USD", units=100, price="1.06")
    ),
    "cancel": lambda sender: sender.cancel("7"),
    "close trade": lambda sender: sender.close_trade("5"),
    "close part": lambda sender: sender.close_trade("5", units="40"),
    "close position": lambda sender: sender.close_position("EUR_USD", long_units="ALL"),
    "protect": lambda sender: sender.set_dependent_orders(
        "5", stop_loss=StopLossDetails(price="1.04")
    ),
}
BECAME = {
    "create": OrderResult.FILLED,
    "create resting": OrderResult.RESTING,
    "replace": OrderResult.RESTING,
    "cancel": OrderResult.APPLIED,
    "close trade": OrderResult.FILLED,
    "close part": OrderResult.FILLED,
    "close position": OrderResult.FILLED,
    "protect": OrderResult.APPLIED,
}


def test_a_sender_made_of_the_wrong_things_says_so_before_its_first_order(tmp_path: Path) -> None:
    client, journal = LossyBroker().client(), FileJournal(tmp_path / "j" / "orders.jsonl")
    with pytest.raises(InvalidSettings, match=r"^journal: .* as in FileJournal\("):
        Sender(client, "orders.jsonl", lambda: 5)  # type: ignore[arg-type]  # what is refused
    with pytest.raises(InvalidSettings, match=r"^last_transaction_id: .* as in `lambda"):
        Sender(client, journal, 5)  # type: ignore[arg-type]  # same
    with sync.Client(client) as waiting, pytest.raises(InvalidSettings, match=r"^client: .* sync"):
        Sender(waiting, journal, lambda: 5)  # type: ignore[arg-type]  # same


def test_a_dismissed_request_is_settled_in_the_journal_and_watched_all_the_same(
    tmp_path: Path,
) -> None:
    broker = LossyBroker(Fate.LATE, first_id=10)

    async def body(desk: Desk) -> None:
        outcome = await desk.sender.create(buy())
        assert isinstance(outcome, Unconfirmed)
        assert desk.sender.unconfirmed() == desk.journal.open_intents() == (outcome.intent,)
        desk.sender.dismiss(outcome)
        assert desk.sender.unconfirmed() == desk.journal.open_intents() == ()
        assert await Desk(broker, desk.client, desk.journal).sender.recover() == ()
        assert '"as":"dismissed"' in desk.journal.path.read_text()
        await asyncio.sleep(60.0)
        desk.watch_all()
        assert [type(alarm) for alarm in desk.alarms] == [Done]

    at_desk(tmp_path, broker, body)


def test_a_request_that_is_being_sent_is_not_dismissed(tmp_path: Path) -> None:
    async def body(desk: Desk) -> None:
        refused: list[str] = []

        def dismiss(progress: Progress) -> None:
            if isinstance(progress, Sending):
                with pytest.raises(InvalidRequest, match="wait for its outcome") as raised:
                    desk.sender.dismiss(progress.intent)
                refused.append(str(raised.value))

        desk.hears = dismiss
        assert isinstance(await desk.sender.create(buy()), Done)
        assert len(refused) == 1

    at_desk(tmp_path, LossyBroker(first_id=10), body)


@pytest.mark.parametrize("act", ACTS)
def test_a_success_answer_is_done_with_what_it_became(tmp_path: Path, act: str) -> None:
    desk = sent(tmp_path, LossyBroker(first_id=10), ACTS[act])
    assert desk.steps() == ["Sending", "Done"]
    done = desk.progress[-1]
    assert isinstance(done, Done)
    assert done.result is BECAME[act]
    assert done.request_id == "7001"
    assert not done.looked_up
    assert desk.journal.open_intents() == ()


@pytest.mark.parametrize("fate", LOST)
@pytest.mark.parametrize("act", ACTS)
def test_a_lost_answer_is_found_in_the_transactions_and_nothing_is_sent_twice(
    tmp_path: Path, act: str, fate: Fate
) -> None:
    broker = LossyBroker(fate, first_id=10)
    done = outcome_of(tmp_path, broker, ACTS[act])
    assert isinstance(done, Done)
    assert done.looked_up
    assert done.result is BECAME[act]
    assert len(broker.writes) == 1


@pytest.mark.parametrize("act", ["create", "close trade", "close position", "protect"])
def test_a_lost_refusal_is_found_too(tmp_path: Path, act: str) -> None:
    rejected = outcome_of(tmp_path, LossyBroker(Fate.REFUSAL_LOST, first_id=10), ACTS[act])
    assert isinstance(rejected, Rejected)
    assert rejected.reject_reason == "UNITS_INVALID"
    assert rejected.looked_up


@pytest.mark.parametrize("act", ACTS)
def test_a_request_that_never_arrived_is_unconfirmed_after_half_a_minute_and_not_repeated(
    tmp_path: Path, act: str
) -> None:
    broker = LossyBroker(Fate.LOST_REQUEST, first_id=10)
    desk = sent(tmp_path, broker, ACTS[act])
    assert isinstance(desk.progress[-1], Unconfirmed)
    assert [round(at - 1000, 1) for at in broker.looked_up_at] == [0.5, 1.5, 3.5, 7.5, 15.5, 30.5]
    assert len(broker.writes) == 1
    assert len(desk.journal.open_intents()) == 1


@pytest.mark.parametrize("act", ["create", "create resting", "close trade", "close position"])
def test_an_incomplete_success_answer_is_looked_up(tmp_path: Path, act: str) -> None:
    broker = LossyBroker(Fate.TACITURN_YET_DONE, first_id=10)
    done = outcome_of(tmp_path, broker, ACTS[act])
    assert isinstance(done, Done)
    assert (done.result, done.looked_up) == (BECAME[act], True)


def test_the_client_id_travels_with_the_order_and_in_the_header(tmp_path: Path) -> None:
    broker = LossyBroker()
    sent(tmp_path, broker, ACTS["create"])
    assert broker.ledger[0]["clientExtensions"] == {"id": "kd-1"}
    assert broker.writes[0].headers["ClientRequestID"] == "kd-1"


def test_an_id_of_the_callers_own_is_kept_and_looked_up_by(tmp_path: Path) -> None:
    order = MarketOrderRequest(
        instrument="EUR_USD", units=1, client_extensions=ClientExtensions(id="mine", tag="t")
    )
    broker = LossyBroker(Fate.LOST_ANSWER)
    done = outcome_of(tmp_path, broker, lambda sender: sender.create(order))
    assert isinstance(done, Done)
    assert broker.ledger[0]["clientExtensions"] == {"id": "mine", "tag": "t"}


def test_an_intent_is_on_disk_before_the_request_is_sent(tmp_path: Path) -> None:
    broker = LossyBroker()
    found: list[tuple[Intent, ...]] = []

    async def body(desk: Desk) -> None:
        desk.hears = lambda _: found.append(FileJournal(desk.journal.path).open_intents())
        await desk.sender.create(buy())

    at_desk(tmp_path, broker, body)
    assert [intent.action for intent in found[0]] == [Action.CREATE]
    assert found[-1] == ()


def test_a_refusal_with_reasons_is_rejected(tmp_path: Path) -> None:
    rejected = outcome_of(tmp_path, LossyBroker(Fate.REFUSED), ACTS["create"])
    assert isinstance(rejected, Rejected)
    assert (rejected.status, rejected.error_code) == (400, "UNITS_INVALID")
    assert rejected.message == "Units are invalid"


def test_an_error_page_of_a_proxy_is_not_a_rejection(tmp_path: Path) -> None:
    broker = LossyBroker(Fate.PAGE)
    assert isinstance(outcome_of(tmp_path, broker, ACTS["create"]), Unconfirmed)


@pytest.mark.parametrize(("fate", "after"), [(Fate.BUSY, 3.0), (Fate.UNREACHABLE, None)])
def test_a_request_that_could_not_be_sent_is_not_sent(
    tmp_path: Path, fate: Fate, after: float | None
) -> None:
    broker = LossyBroker(fate)
    desk = sent(tmp_path, broker, ACTS["create"])
    outcome = desk.progress[-1]
    assert isinstance(outcome, NotSent)
    assert outcome.retry_after == after
    assert broker.looked_up_at == []
    assert desk.journal.open_intents() == ()


def test_invalid_units_are_not_sent_and_the_outcome_names_the_member(tmp_path: Path) -> None:
    broker = LossyBroker()
    outcome = outcome_of(tmp_path, broker, lambda sender: sender.close_trade("5", units="-3"))
    assert isinstance(outcome, NotSent)
    assert outcome.field == "units"
    assert broker.writes == []


WHOLE = Reader(Instrument).read(
    b'{"name":"EUR_USD","tradeUnitsPrecision":0,"minimumTradeSize":"10","maximumOrderUnits":"50"}'
)


@pytest.mark.parametrize(
    ("close", "field"),
    [
        (lambda sender: sender.close_trade("5", units="0.5", instrument=WHOLE), "units"),
        (lambda sender: sender.close_position(WHOLE, long_units="0.5"), "long_units"),
    ],
)
def test_a_close_with_too_many_decimals_is_not_sent_and_names_its_units(
    tmp_path: Path, close: Callable[[Sender], Awaitable[Outcome]], field: str
) -> None:
    broker = LossyBroker()
    outcome = outcome_of(tmp_path, broker, close)
    assert isinstance(outcome, NotSent)
    assert outcome.field == field
    assert broker.writes == []


@pytest.mark.parametrize("units", ["5", "5.0", "60", "ALL"])
@pytest.mark.parametrize(
    "close",
    [
        lambda sender, units: sender.close_trade("5", units=units, instrument=WHOLE),
        lambda sender, units: sender.close_position(WHOLE, long_units=units),
    ],
)
def test_a_close_is_never_too_small_nor_too_large(
    tmp_path: Path, close: Callable[[Sender, str], Awaitable[Outcome]], units: str
) -> None:
    broker = LossyBroker()
    outcome_of(tmp_path, broker, lambda sender: close(sender, units))
    assert len(broker.writes) == 1


@pytest.mark.parametrize(
    "act",
    [
        lambda sender: sender.close_trade("5", units=Decimal("1E+2")),
        lambda sender: sender.close_position("EUR_USD", long_units=Decimal("4E+1")),
        lambda sender: sender.close_position("EUR_USD", long_units=40, short_units="NONE"),
        lambda sender: sender.set_dependent_orders(
            "5",
            stop_loss=StopLossDetails(price=Decimal("1E+1"), distance=None, gtd_time=None),
            take_profit=None,
        ),
    ],
)
def test_the_journal_holds_what_was_sent(
    tmp_path: Path, act: Callable[[Sender], Awaitable[Outcome]]
) -> None:
    broker = LossyBroker()
    outcome = outcome_of(tmp_path, broker, act)
    (write,) = broker.writes
    assert outcome.intent.body == json.loads(write.content)


@pytest.mark.parametrize("form", ["RFC3339", "UNIX"])
def test_the_journal_holds_an_order_as_it_was_sent(tmp_path: Path, form: TimeFormat) -> None:
    broker, journal = LossyBroker(), FileJournal(tmp_path / "j" / "orders.jsonl")
    order = LimitOrderRequest(
        instrument="EUR_USD",
        units=100,
        price="1.05",
        time_in_force="GTD",
        gtd_time="2030-01-02T03:04:05Z",
    )

    async def send() -> Outcome:
        async with broker.client(form) as client:
            return await Sender(client, journal, lambda: 0).create(order)

    outcome = run(send())
    (write,) = broker.writes
    assert outcome.intent.body == json.loads(write.content)["order"]


def test_an_invalid_request_is_neither_sent_nor_journalled(tmp_path: Path) -> None:
    broker = LossyBroker()
    desk = sent(tmp_path, broker, lambda sender: sender.create(buy(), instrument=WHOLE))
    assert desk.steps() == ["NotSent"]
    assert desk.journal.path.read_bytes() == b""
    assert broker.writes == []


def test_without_a_journal_nothing_is_sent(tmp_path: Path) -> None:
    broker = LossyBroker()

    async def body(desk: Desk) -> None:
        desk.journal.path.unlink()
        desk.journal.path.mkdir()
        assert isinstance(await desk.sender.create(buy()), NotSent)

    at_desk(tmp_path, broker, body)
    assert broker.writes == []


def _folder_removed(desk: Desk) -> None:
    shutil.rmtree(desk.journal.path.parent)


def _file_opened_to_others(desk: Desk) -> None:
    desk.journal.path.chmod(0o644)


@contextmanager
def _no_room() -> Iterator[None]:
    """Let no file of this process grow, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


NEW_RISK = ("create", "create resting", "replace")
EXIT = sorted(set(ACTS) - set(NEW_RISK))


@pytest.mark.parametrize("act", EXIT)
@pytest.mark.parametrize("spoil", [_folder_removed, _file_opened_to_others])
def test_an_exit_is_sent_without_a_journal_and_says_so(
    tmp_path: Path, act: str, spoil: Callable[[Desk], None]
) -> None:
    broker = LossyBroker()

    async def body(desk: Desk) -> None:
        spoil(desk)
        assert isinstance(await ACTS[act](desk.sender), Done)
        sending = desk.progress[0]
        assert isinstance(sending, Sending)
        assert sending.not_journalled

    at_desk(tmp_path, broker, body)
    assert len(broker.writes) == 1


@pytest.mark.parametrize("act", NEW_RISK)
@pytest.mark.parametrize("spoil", [_folder_removed, _file_opened_to_others])
def test_new_risk_without_a_journal_is_refused(
    tmp_path: Path, act: str, spoil: Callable[[Desk], None]
) -> None:
    broker = LossyBroker()

    async def body(desk: Desk) -> None:
        spoil(desk)
        assert isinstance(await ACTS[act](desk.sender), NotSent)

    at_desk(tmp_path, broker, body)
    assert broker.writes == []


def test_an_order_that_may_only_reduce_is_an_exit(tmp_path: Path) -> None:
    broker = LossyBroker()
    only = MarketOrderRequest(instrument="EUR_USD", units="-1000", position_fill="REDUCE_ONLY")

    async def body(desk: Desk) -> None:
        _folder_removed(desk)
        assert not isinstance(await desk.sender.create(only), NotSent)

    at_desk(tmp_path, broker, body)
    assert len(broker.writes) == 1


def test_on_a_full_disk_exits_are_sent_and_new_risk_is_not(tmp_path: Path) -> None:
    broker = LossyBroker()

    async def body(desk: Desk) -> None:
        with _no_room():
            outcomes = [await act(desk.sender) for act in ACTS.values()]
        refused = [
            name for name, each in zip(ACTS, outcomes, strict=True) if isinstance(each, NotSent)
        ]
        assert refused == list(NEW_RISK)
        assert isinstance(await desk.sender.create(buy()), Done)
        assert desk.journal.unreadable_lines == 0

    at_desk(tmp_path, broker, body)


def test_an_exit_without_a_journal_is_looked_up_when_its_answer_is_lost(tmp_path: Path) -> None:
    broker = LossyBroker(Fate.LOST_ANSWER)

    async def body(desk: Desk) -> None:
        _folder_removed(desk)
        done = await desk.sender.close_trade("5")
        assert isinstance(done, Done)
        assert done.looked_up

    at_desk(tmp_path, broker, body)
    assert len(broker.writes) == 1


def test_a_disk_that_fills_up_meanwhile_does_not_hide_what_was_done(tmp_path: Path) -> None:
    broker = LossyBroker()

    async def body(desk: Desk) -> None:
        def fill_the_disk(_: object) -> None:
            if desk.journal.path.is_file():
                desk.journal.path.unlink()
                desk.journal.path.mkdir()

        desk.hears = fill_the_disk
        assert isinstance(await desk.sender.create(buy()), Done)

    at_desk(tmp_path, broker, body)


def test_a_failed_look_up_does_not_prove_that_the_order_is_absent(tmp_path: Path) -> None:
    broker = LossyBroker(Fate.LOST_ANSWER)
    broker.look_ups_to_fail = 20
    desk = sent(tmp_path, broker, ACTS["create"])
    assert isinstance(desk.progress[-1], Done)
    assert len(broker.looked_up_at) == 21  # twenty failed, one found it
    assert desk.steps().count("Unknown") == 21


def test_the_stream_shortens_the_wait(tmp_path: Path) -> None:
    broker = LossyBroker(Fate.LATE, late_s=16.0)

    async def body(desk: Desk) -> None:
        sending = asyncio.create_task(desk.sender.create(buy()))
        await asyncio.sleep(16.1)
        for transaction in transactions_of(broker):
            desk.sender.watch(transaction)
        assert isinstance(await sending, Done)
        assert asyncio.get_running_loop().time() < 1016.2

    at_desk(tmp_path, broker, body)


@pytest.mark.parametrize("act", ACTS)
def test_an_unconfirmed_request_that_takes_effect_raises_the_alarm_once(
    tmp_path: Path, act: str
) -> None:
    broker = LossyBroker(Fate.LATE, late_s=60.0, first_id=10)

    async def body(desk: Desk) -> None:
        assert isinstance(await ACTS[act](desk.sender), Unconfirmed)
        await asyncio.sleep(60.0)
        for transaction in transactions_of(broker):
            desk.sender.watch(transaction)
            desk.sender.watch(transaction)
        await asyncio.sleep(1.0)
        (alarm,) = desk.alarms
        assert isinstance(alarm, Done)
        assert alarm.result in {BECAME[act], OrderResult.RESTING}
        assert desk.journal.open_intents() == ()

    at_desk(tmp_path, broker, body)


@pytest.mark.parametrize("act", ACTS)
def test_an_unconfirmed_request_can_be_resolved_later(tmp_path: Path, act: str) -> None:
    broker = LossyBroker(Fate.LATE, late_s=60.0, first_id=10)

    async def body(desk: Desk) -> None:
        given_up = await ACTS[act](desk.sender)
        assert isinstance(await desk.sender.resolve(given_up.intent), Unconfirmed)
        await asyncio.sleep(60.0)
        found = await desk.sender.resolve(given_up.intent)
        assert isinstance(found, Done)
        assert found.result is BECAME[act]
        for transaction in transactions_of(broker):
            desk.sender.watch(transaction)
        assert desk.alarms == []
        assert desk.journal.open_intents() == ()
        assert len(broker.writes) == 1

    at_desk(tmp_path, broker, body)


def test_two_like_closes_do_not_take_each_others_transactions(tmp_path: Path) -> None:
    broker = LossyBroker(Fate.ANSWERED, Fate.LOST_REQUEST, first_id=10)

    async def body(desk: Desk) -> None:
        desk.since = broker.last_id
        first = await desk.sender.close_trade("5", units="40")
        second = await desk.sender.close_trade("5", units="40.0")
        assert isinstance(first, Done)
        assert isinstance(second, Unconfirmed)

    at_desk(tmp_path, broker, body)


def test_a_cancel_of_an_order_that_filled_first_is_rejected(tmp_path: Path) -> None:
    broker = LossyBroker(Fate.LOST_REQUEST, first_id=10)

    async def body(desk: Desk) -> None:
        sending = asyncio.create_task(desk.sender.cancel("7"))
        await broker.has_met(writes=1)
        broker.batch({"type": "ORDER_CANCEL", "orderID": "7", "reason": "TIME_IN_FORCE_EXPIRED"})
        outcome = await sending
        assert isinstance(outcome, Rejected)
        assert outcome.message == "the order ended first: TIME_IN_FORCE_EXPIRED"

    at_desk(tmp_path, broker, body)


def test_a_cancelled_dependent_order_is_not_confused_with_other_cancels(tmp_path: Path) -> None:
    broker = LossyBroker(Fate.LOST_ANSWER, first_id=10)
    broker.batch({"type": "STOP_LOSS_ORDER", "tradeID": "5", "price": "1.04", "reason": "ON_FILL"})
    broker.batch({"type": "TAKE_PROFIT_ORDER", "tradeID": "5", "price": "2", "reason": "ON_FILL"})
    desk = sent(tmp_path, broker, lambda sender: sender.set_dependent_orders("5", stop_loss=None))
    assert isinstance(desk.progress[-1], Done)


def test_a_stop_created_on_fill_is_not_taken_for_the_requested_one(tmp_path: Path) -> None:
    broker = LossyBroker(Fate.LOST_REQUEST, first_id=10)

    async def body(desk: Desk) -> None:
        desk.since = 9  # the feed lags behind
        came = {"type": "STOP_LOSS_ORDER", "tradeID": "5", "price": "1.04", "reason": "ON_FILL"}
        broker.batch(came)
        assert isinstance(await ACTS["protect"](desk.sender), Unconfirmed)

    at_desk(tmp_path, broker, body)


def test_on_an_account_without_client_ids_an_order_is_found_by_its_content(tmp_path: Path) -> None:
    broker = LossyBroker(Fate.LOST_ANSWER)

    async def body(desk: Desk) -> None:
        done = await desk.sender.create(buy())
        assert isinstance(done, Done)
        assert "clientExtensions" not in broker.ledger[0]

    at_desk(tmp_path, broker, body, client_ids=False)


def journalled(folder: Path, at_ns: int, clock: str = CLOCK) -> Intent:
    order: JsonObject = {"type": "MARKET", "instrument": "EUR_USD", "units": "100"}
    order["clientExtensions"] = {"id": "kd-old"}
    monotonic = MonotonicTime(clock, at_ns)
    intent = Intent("kd-old", Action.CREATE, 0, at_ns, None, "", order, monotonic=monotonic)
    FileJournal(folder / "j" / "orders.jsonl").write(intent)
    return intent


def test_what_an_earlier_session_left_open_is_resolved_at_the_start(tmp_path: Path) -> None:
    journalled(tmp_path, at_ns=990 * 10**9)
    broker = LossyBroker()
    made = {
        "type": "MARKET_ORDER",
        "instrument": "EUR_USD",
        "units": "100",
        "reason": "CLIENT_ORDER",
    }
    cancel = {"type": "ORDER_CANCEL", "orderID": "1", "reason": "INSUFFICIENT_MARGIN"}
    broker.batch(made | {"clientExtensions": {"id": "kd-old"}}, cancel)

    async def body(desk: Desk) -> None:
        (done,) = await desk.sender.recover()
        assert isinstance(done, Done)
        assert (done.result, done.reason) == (OrderResult.CANCELLED, "INSUFFICIENT_MARGIN")
        assert await desk.sender.recover() == ()

    at_desk(tmp_path, broker, body)
    assert broker.writes == []


def test_an_old_intent_is_unconfirmed_after_one_look_up(tmp_path: Path) -> None:
    journalled(tmp_path, at_ns=0)
    broker = LossyBroker()

    async def body(desk: Desk) -> None:
        (outcome,) = await desk.sender.recover()
        assert isinstance(outcome, Unconfirmed)
        assert len(broker.looked_up_at) == 1
        assert desk.journal.open_intents() == ()

    at_desk(tmp_path, broker, body)


def test_an_old_intent_of_another_boot_is_unconfirmed_once_a_clock_proves_its_age(
    tmp_path: Path,
) -> None:
    journalled(tmp_path, at_ns=0, clock="of the boot before")
    broker = LossyBroker()

    async def body(desk: Desk) -> None:
        looks, left_open = [], []
        for pause in (0.0, 119.0, 2.0):
            await asyncio.sleep(pause)
            (outcome,) = await Desk(broker, desk.client, desk.journal).sender.recover()
            assert isinstance(outcome, Unconfirmed)
            looks.append(len(broker.looked_up_at))
            left_open.append(len(desk.journal.open_intents()))
        assert left_open == [1, 1, 0]
        assert looks[0] == 1

    at_desk(tmp_path, broker, body)


@pytest.mark.parametrize(
    "monotonic", [None, 7, {}, {"clock": 1, "ns": 2}, {"clock": "a", "ns": "b"}]
)
def test_an_intent_with_an_unreadable_clock_reading_is_valid(
    tmp_path: Path, monotonic: JsonValue
) -> None:
    line = journalled(tmp_path, at_ns=0).to_wire()
    assert Intent.from_wire(line) == journalled(tmp_path, at_ns=0)
    intent = Intent.from_wire(line | {"steady": monotonic})
    assert (intent.id, intent.monotonic) == ("kd-old", None)


def test_monotonic_clocks_tell_the_age_of_their_own_readings_only() -> None:
    later = MonotonicTime("one", 50)
    assert later.since(MonotonicTime("one", 20)) == 30
    assert later.since(MonotonicTime("other", 20)) is None
    assert later.since(MonotonicTime("one", 60)) is None
    assert later.since(None) is None
    first = monotonic_time()
    passed = monotonic_time().since(first)
    assert passed is not None
    assert passed >= 0


def test_a_recent_intent_is_looked_up_for_half_a_minute(tmp_path: Path) -> None:
    journalled(tmp_path, at_ns=999 * 10**9)
    broker = LossyBroker()

    async def body(desk: Desk) -> None:
        (outcome,) = await desk.sender.recover()
        assert isinstance(outcome, Unconfirmed)
        assert asyncio.get_running_loop().time() == pytest.approx(1030.5, abs=0.1)
        assert len(desk.journal.open_intents()) == 1

    at_desk(tmp_path, broker, body)


def test_a_sender_gives_up_the_look_ups_of_a_service_that_stays_down(tmp_path: Path) -> None:
    """Its outcome is Unconfirmed: still watched, and still open in the journal for the next start."""
    broker = LossyBroker(Fate.LOST_ANSWER)
    late: list[Outcome] = []
    broker.look_ups_to_fail = 1_000_000

    async def body() -> None:
        clock = asyncio.get_running_loop().time
        began = clock()
        async with broker.client() as client, asyncio.timeout(3600):
            journal = FileJournal(tmp_path / "journal" / "orders.jsonl")
            sender = Sender(client, journal, lambda: 0, alarm=late.append, give_up_after=90)
            outcome = await sender.create(MarketOrderRequest(instrument="EUR_USD", units=1))
            assert isinstance(outcome, Unconfirmed)
            assert outcome.gave_up
            assert clock() - began == 90
            assert sender.unconfirmed() == journal.open_intents() == (outcome.intent,)
            for transaction in transactions_of(broker):
                sender.watch(transaction)
            assert [type(each) for each in late] == [Done]

    run(body())


def test_recovery_that_gives_up_leaves_the_intent_for_the_next_start(tmp_path: Path) -> None:
    broker = LossyBroker(Fate.SILENT)
    path = tmp_path / "journal" / "orders.jsonl"

    async def body() -> None:
        async with broker.client() as client, asyncio.timeout(7200):
            first = Sender(client, FileJournal(path), lambda: 0)
            sending = asyncio.create_task(
                first.create(MarketOrderRequest(instrument="EUR_USD", units=1))
            )
            await broker.has_met(1)
            sending.cancel()
            broker.look_ups_to_fail = 1_000_000
            old = replace(monotonic_time(), ns=monotonic_time().ns + 3600 * 10**9)
            again = Sender(
                client, FileJournal(path), lambda: 0, give_up_after=60, monotonic=lambda: old
            )
            (outcome,) = await again.recover()
            assert isinstance(outcome, Unconfirmed)
            assert FileJournal(path).open_intents() == (outcome.intent,)
            broker.look_ups_to_fail = 0
            (outcome,) = await again.recover()
            assert isinstance(outcome, Done)

    run(body())
