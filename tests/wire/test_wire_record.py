"""The record of what was checked: merged from several processes, and compared with the reference."""

from support.wire import wire
from support.wire_record import WireRecord

LISTED = {"accounts": [{"id": "101-001-1-001", "tags": []}]}


def test_an_empty_record_leaves_every_operation_unchecked() -> None:
    unchecked = {one.partition(":")[0] for one in WireRecord().unchecked()}
    assert unchecked == set(wire().endpoints)


def test_records_of_two_processes_are_merged() -> None:
    one, other = WireRecord(), WireRecord()
    one.note("list_accounts", 200, LISTED, ["RequestID"])
    other.note("list_accounts", 401, {"errorMessage": "no"})
    merged = WireRecord()
    merged.merge(one.to_json())
    merged.merge(other.to_json())
    assert merged.of("list_accounts").statuses == {200, 401}
    assert merged.of("list_accounts").paths == {".accounts", ".accounts.id", ".accounts.tags"}
    assert not [text for text in merged.unchecked() if text.startswith("list_accounts: member")]


def test_what_is_listed_as_never_sent_must_not_be_seen() -> None:
    record = WireRecord()
    record.note("list_transactions", 416, {"errorMessage": "no"})
    assert record.contradictions() == [
        "('list_transactions', 416) is listed as never sent, but was seen"
    ]
