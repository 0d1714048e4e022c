"""The life of an order from journal, audit log and what is in flight: open ones stay first, each with what to do."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from keydesk.text.sanitize import clean
from keydesk.trading.audit import AuditEntry, AuditLog
from keydesk.trading.order_history import (
    MAX_LINES,
    TO_DO,
    order_histories,
    read_order_histories,
    with_states,
)
from keydesk.values import Command, CommandState
from keydesk_client.orders.journal import FileJournal
from keydesk_client.orders.outcome import Action, Intent
from support.data.outcomes import intent

SECOND = 1_000_000_000


def intent_number(number: int, action: Action = Action.CREATE, **body: str) -> Intent:
    return replace(intent(action, **body), id=f"kd-{number:020x}", at_ns=number * SECOND)


def told(number: int, what: str, text: str, at: int | None = None) -> AuditEntry:
    time_ns = (number if at is None else at) * SECOND
    return AuditEntry(time_ns, 1, clean(what), clean(f"kd-{number:020x} {text}"))


def lines(*records: object) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in records)


def test_an_order_without_an_outcome_is_first_however_old(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path / "a.journal")
    for number in range(1, 5):
        journal.write(intent_number(number))
    for number, verdict in ((2, "done"), (3, "ambiguous"), (4, "done")):
        journal.settle(intent_number(number), verdict)
    lives = read_order_histories(tmp_path / "a.journal", tmp_path / "a.audit")
    assert [life.state for life in lives] == ["one of several", "open", "settled", "settled"]
    assert [life.time_ns // SECOND for life in lives] == [3, 1, 4, 2]
    assert lives[0].text == "BUY 50,000 EUR/USD market"
    assert '"units": "50000"' in lives[1].request


def test_the_audit_log_adds_times_look_ups_and_the_outcome(tmp_path: Path) -> None:
    audit = AuditLog(tmp_path / "a.audit", wall_ns=iter(range(SECOND, 9 * SECOND, SECOND)).__next__)
    sent = intent_number(1)
    audit.write("sending", f'{sent.id} BUY 50,000 EUR/USD market {{"units": "50000"}}')
    audit.write("key", "y on BUY 10,000 EUR/USD")
    audit.write("unknown", f"{sent.id} the answer was lost")
    audit.write("outcome", f"{sent.id} FILLED 50,000 EUR/USD @ 1.08502")
    [life] = read_order_histories(tmp_path / "a.journal", tmp_path / "a.audit")
    assert life.text == "BUY 50,000 EUR/USD market"
    assert [line.what for line in life.lines] == ["sending", "unknown", "outcome"]
    assert life.outcome == "FILLED 50,000 EUR/USD @ 1.08502"
    assert '{"units": "50000"}' in life.request


def test_an_unconfirmed_order_that_showed_up_is_settled() -> None:
    wire = {"intent": intent_number(1).to_wire()}
    settled = {"settled": intent_number(1).id, "as": "unconfirmed", "claimed": []}
    [life] = order_histories(lines(wire, settled), ())
    assert life.state == "unconfirmed"
    [life] = order_histories(lines(wire, settled), [told(1, "showed up", "BUY 50,000 EUR/USD", 2)])
    assert life.state == "settled"


@pytest.mark.parametrize("state", ["sent", "unknown", "unconfirmed"])
def test_what_the_desk_knows_now_is_the_state(state: CommandState) -> None:
    [settled] = order_histories(b"", [told(1, "outcome", "FILLED")])
    record = Command(
        "BUY 50,000 EUR/USD at market", id=settled.id, instrument="EUR_USD", state=state
    )
    [life] = with_states([settled], [record])
    assert (life.state, life.is_open, life.to_do) == (state, True, TO_DO[state])
    assert with_states([settled], []) == [settled]


def test_an_order_that_was_sent_just_now_is_there_before_the_files_are_read() -> None:
    record = Command("BUY \x1b[2J50,000", id="kd-x", instrument="EUR_USD")
    [settled] = order_histories(b"", [told(1, "outcome", "FILLED")])
    first, second = with_states([settled], [record])
    assert (first.id, second) == ("kd-x", settled)
    assert "\x1b" not in first.text


@pytest.mark.parametrize(
    "text",
    [
        b"\xff\xfe\n",
        b"null\n",
        b"[1]\n",
        b'{"intent": 7}\n',
        b'{"intent": {"id": "kd-1", "action": "sing"}}\n',
        b'{"settled": 1}\n',
        b'{"intent": {"id"\n',
    ],
)
def test_damaged_lines_of_the_journal_are_left_out(text: bytes) -> None:
    good = lines({"intent": intent_number(1).to_wire()})
    assert len(order_histories(text + good, ())) == 1
    assert len(order_histories(good + text, ())) == 1


def test_hostile_words_are_cleaned() -> None:
    wire = intent_number(1, instrument="E\x1b]0;x\x07UR", units="1").to_wire()
    [life] = order_histories(lines({"intent": wire}), [told(1, "outcome", "a\x9bb\u202ec")])
    for text in (life.text, life.request, life.outcome, *(each.text for each in life.lines)):
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(text)


def test_days_of_look_ups_are_bounded() -> None:
    entries = [told(1, "unknown", f"look {number}", number) for number in range(5_000)]
    [life] = order_histories(b"", entries)
    assert len(life.lines) == MAX_LINES
    assert life.lines[0].text == "look 0"
    assert life.lines[-1].text == "look 4999"


def test_missing_files_say_nothing(tmp_path: Path) -> None:
    assert read_order_histories(tmp_path / "no.journal", tmp_path / "no.audit") == []


def test_one_of_several_is_open_until_it_was_acknowledged() -> None:
    intent = intent_number(1)
    journal = lines({"intent": intent.to_wire()}, {"settled": intent.id, "as": "ambiguous"})
    [life] = order_histories(journal, [])
    assert life.is_open
    [life] = order_histories(journal, [told(1, "acknowledged", "compared by the trader")])
    assert not life.is_open


def test_an_order_that_may_still_show_up_is_not_acknowledged_but_dismissed() -> None:
    intent = intent_number(1)
    journal = lines({"intent": intent.to_wire()}, {"settled": intent.id, "as": "unconfirmed"})
    [life] = order_histories(journal, [told(1, "acknowledged", "compared by the trader")])
    assert life.is_open
    [life] = order_histories(journal, [told(1, "dismissed", "compared by the trader")])
    assert not life.is_open
    journal += lines({"settled": intent.id, "as": "dismissed"})
    [life] = order_histories(journal, [])
    assert not life.is_open


def test_a_request_without_members_has_no_empty_braces(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path / "a.journal")
    journal.write(replace(intent_number(1, Action.CANCEL), target="20", body={}))
    [journalled] = read_order_histories(tmp_path / "a.journal", tmp_path / "a.audit")
    assert journalled.request.startswith("cancel of 20, sent after transaction #")
    [audited] = order_histories(b"", [told(2, "sending", "CANCEL order #20 {}")])
    assert audited.request == "CANCEL order #20"


@pytest.mark.parametrize(
    ("size", "text"),
    [("200000", "CLOSE 200,000 of #5"), ("ALL", "CLOSE all of #5"), ("0.50", "CLOSE 0.5 of #5")],
)
def test_the_units_of_a_close_are_grouped(tmp_path: Path, size: str, text: str) -> None:
    journal = FileJournal(tmp_path / "a.journal")
    closing = intent_number(1, Action.CLOSE_TRADE)
    journal.write(replace(closing, target="5", body={"units": size}, instrument=""))
    [life] = read_order_histories(tmp_path / "a.journal", tmp_path / "a.audit")
    assert life.text == text


def test_an_order_on_a_market_with_its_own_time_has_that_time_as_its_messages_have(
    tmp_path: Path,
) -> None:
    market = iter((7, 8))
    audit = AuditLog(tmp_path / "a.audit", market_ns=lambda _: next(market) * SECOND)
    sent = intent_number(1)
    audit.write("sending", f'{sent.id} BUY 50,000 EUR/USD market {{"units": "50000"}}')
    audit.write("outcome", f"{sent.id} FILLED 50,000 EUR/USD @ 1.08502")
    [life] = read_order_histories(tmp_path / "a.journal", tmp_path / "a.audit")
    assert life.market_ns == 7 * SECOND
    assert [line.market_ns for line in life.lines] == [7 * SECOND, 8 * SECOND]
    assert life.time_ns > 8 * SECOND, "orders stay in the order in which they were sent"
