"""The transaction stream: every transaction once, in order, whatever happens to the connection."""

import random
from collections.abc import Callable

import pytest

from keydesk_client.errors import ConnectionLost, StreamNotOpen
from keydesk_client.models import TransactionHeartbeat, UnknownTransaction
from keydesk_client.streams.health import HistoryLost, Reconnected
from keydesk_client.streams.pace import ConnectPace
from keydesk_client.streams.settings import StreamSettings
from keydesk_client.streams.transactions import TransactionItem, TransactionStream
from support.scripted_history import ScriptedHistory
from support.scripted_stream import ScriptedStream, Step, heartbeat, transaction
from support.virtual_time import run, virtual_timing

FOREVER = 1e6
RESET = ConnectionLost("reset")
MARKERS = (TransactionHeartbeat, Reconnected, HistoryLost)


def stream_of(
    opening: ScriptedStream, history: ScriptedHistory, since: int | None = None
) -> TransactionStream:
    timing = virtual_timing()
    pace = ConnectPace(timing)
    return TransactionStream(opening, history, pace, StreamSettings(), timing, since=since)


async def taken(
    stream: TransactionStream, until: Callable[[list[TransactionItem]], bool]
) -> list[TransactionItem]:
    items: list[TransactionItem] = []
    async with stream:
        async for item in stream:
            items.append(item)
            if until(items):
                break
    return items


def ids(items: list[TransactionItem]) -> list[int]:
    return [int(item.id) for item in items if not isinstance(item, MARKERS)]


def up_to(last: int) -> Callable[[list[TransactionItem]], bool]:
    return lambda items: ids(items[-1:]) >= [last]


def test_what_happens_is_delivered_with_its_heartbeats() -> None:
    async def body() -> None:
        opening = ScriptedStream([heartbeat(4), transaction(5), transaction(6), FOREVER])
        found = await taken(stream_of(opening, ScriptedHistory(6)), up_to(6))
        assert isinstance(found[0], TransactionHeartbeat)
        assert ids(found) == [5, 6]

    run(body())


def test_with_an_id_to_begin_after_the_past_comes_first() -> None:
    async def body() -> None:
        opening = ScriptedStream([transaction(4), FOREVER])
        history = ScriptedHistory(4)
        found = await taken(stream_of(opening, history, since=1), up_to(4))
        assert ids(found) == [2, 3, 4]
        assert history.asked == [(1, None)]

    run(body())


def test_after_a_cut_what_was_missed_comes_before_the_first_live_item() -> None:
    async def body() -> None:
        opening = ScriptedStream([transaction(1), RESET], [transaction(4), FOREVER])
        found = await taken(stream_of(opening, ScriptedHistory(3)), up_to(4))
        assert [type(item).__name__ for item in found][1] == "Reconnected"
        assert ids(found) == [1, 2, 3, 4]

    run(body())


def test_also_when_the_first_live_item_is_a_heartbeat_that_tells_of_more() -> None:
    async def body() -> None:
        history = ScriptedHistory(1)
        opening = ScriptedStream([transaction(1), RESET], [5.0, heartbeat(4), FOREVER])
        stream = stream_of(opening, history)
        found: list[TransactionItem] = []
        async with stream:
            async for item in stream:
                found.append(item)
                if isinstance(item, Reconnected):
                    history.last = 4  # it happens after we asked, and the stream does not tell
                if isinstance(item, TransactionHeartbeat):
                    break
        assert ids(found) == [1, 2, 3, 4]
        assert isinstance(found[-1], TransactionHeartbeat)

    run(body())


def test_a_transaction_that_the_stream_left_out_is_asked_for() -> None:
    async def body() -> None:
        opening = ScriptedStream([transaction(1) + transaction(4), FOREVER])
        history = ScriptedHistory(4)
        assert ids(await taken(stream_of(opening, history), up_to(4))) == [1, 2, 3, 4]
        assert history.asked == [(2, 3)]

    run(body())


def test_doubles_and_disorder_are_put_right() -> None:
    async def body() -> None:
        lines = [transaction(number) for number in (1, 2, 1, 3, 2, 5, 4, 5, 6)]
        opening = ScriptedStream([b"".join(lines), FOREVER])
        assert ids(await taken(stream_of(opening, ScriptedHistory(6)), up_to(6))) == [*range(1, 7)]

    run(body())


def test_a_long_absence_is_made_good_in_portions() -> None:
    async def body() -> None:
        opening = ScriptedStream([transaction(1), RESET], [heartbeat(5000), FOREVER])
        history = ScriptedHistory(5000, most=400)
        found = await taken(stream_of(opening, history), up_to(5000))
        assert ids(found) == [*range(1, 5001)]

    run(body())


def test_a_service_whose_copies_lag_is_asked_again() -> None:
    async def body() -> None:
        history = ScriptedHistory(3)
        lags = iter([2, 2, 1])
        history.lag = lambda: next(lags, 0)
        opening = ScriptedStream([transaction(1) + heartbeat(3), FOREVER])
        assert ids(await taken(stream_of(opening, history), up_to(3))) == [1, 2, 3]

    run(body())


def test_when_asking_fails_the_connection_is_made_anew_and_nothing_is_lost() -> None:
    async def body() -> None:
        history = ScriptedHistory(4)
        failures = iter([RESET, RESET])
        history.failure = lambda: next(failures, None)
        opening = ScriptedStream(
            [transaction(1) + transaction(4), FOREVER], [heartbeat(4), FOREVER]
        )
        assert ids(await taken(stream_of(opening, history), up_to(4))) == [1, 2, 3, 4]

    run(body())


def test_a_hole_in_the_history_is_told_and_not_passed_over_in_silence() -> None:
    async def body() -> None:
        history = ScriptedHistory(4)
        history.holes = {3}
        opening = ScriptedStream([transaction(1) + transaction(2) + transaction(4), FOREVER])
        found = await taken(stream_of(opening, history), lambda it: isinstance(it[-1], HistoryLost))
        assert ids(found) == [1, 2]
        assert found[-1] == HistoryLost(2)

    run(body())


def test_a_service_that_knows_less_than_we_do_has_lost_the_history_and_the_stream_begins_anew() -> (
    None
):
    async def body() -> None:
        opening = ScriptedStream([transaction(9), RESET], [transaction(4), FOREVER])
        found = await taken(stream_of(opening, ScriptedHistory(3)), lambda it: ids(it)[-1:] == [4])
        assert [item for item in found if isinstance(item, HistoryLost)] == [HistoryLost(9)]
        assert ids(found) == [9, 4]

    run(body())


def test_kinds_that_are_newer_than_this_library_are_delivered() -> None:
    async def body() -> None:
        opening = ScriptedStream([transaction(1, "TELEPORT"), FOREVER])
        (found,) = await taken(stream_of(opening, ScriptedHistory(1)), up_to(1))
        assert isinstance(found, UnknownTransaction)
        assert found.type == "TELEPORT"

    run(body())


def test_a_garbled_line_is_a_broken_connection_and_what_it_hid_is_asked_for() -> None:
    async def body() -> None:
        opening = ScriptedStream(
            [transaction(1) + b'{"id":"2","ty\n', FOREVER], [heartbeat(2), FOREVER]
        )
        found = await taken(stream_of(opening, ScriptedHistory(2)), up_to(2))
        assert ids(found) == [1, 2]

    run(body())


def test_a_heartbeat_with_nothing_but_its_time_is_delivered() -> None:
    async def body() -> None:
        opening = ScriptedStream([heartbeat(), transaction(7), FOREVER])
        found = await taken(stream_of(opening, ScriptedHistory(7)), up_to(7))
        assert isinstance(found[0], TransactionHeartbeat)
        assert ids(found) == [7]

    run(body())


def cut_at_random(draw: random.Random, last: int) -> tuple[list[list[Step]], int]:
    """Connections that each show a random part of the ledger's tail, cut anywhere, even inside a line."""
    scripts: list[list[Step]] = []
    position = 0
    while position < last:
        position = min(last, position + draw.randint(0, 3))  # happened while nobody listened
        shown = min(last, position + draw.randint(0, 6))
        lines = b"".join(transaction(number) for number in range(position + 1, shown + 1))
        if draw.random() < 0.3:
            lines += heartbeat(shown)
        scripts.append([lines[: draw.randint(0, len(lines))], RESET])
        position = shown
    scripts.append([heartbeat(last), FOREVER])
    return scripts, len(scripts) - 1


def survives_cuts(seed: int, last: int) -> int:
    scripts, cuts = cut_at_random(random.Random(seed), last)

    async def body() -> list[int]:
        opening = ScriptedStream(*scripts)
        return ids(await taken(stream_of(opening, ScriptedHistory(last), since=0), up_to(last)))

    assert run(body()) == list(range(1, last + 1))
    return cuts


@pytest.mark.parametrize("seed", range(5))
def test_random_cuts_leave_the_ledger_in_order_once(seed: int) -> None:
    assert survives_cuts(seed, 200) > 10


@pytest.mark.soak
def test_ten_thousand_random_cuts_leave_the_ledger_in_order_once() -> None:
    cuts = 0
    seed = 100
    while cuts < 10_000:
        cuts += survives_cuts(seed, 2000)
        seed += 1


def test_a_stream_that_was_not_entered_says_how_rather_than_waiting_for_ever() -> None:
    async def body() -> None:
        stream = stream_of(ScriptedStream([heartbeat(4), FOREVER]), ScriptedHistory(4))
        told = r"async with client\.transactions\.stream\(\.\.\.\) as transactions:"
        with pytest.raises(StreamNotOpen, match=told):
            _ = [item async for item in stream]
        with pytest.raises(StreamNotOpen, match=told):
            await anext(stream)

    run(body())
