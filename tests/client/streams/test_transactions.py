"""The transaction stream: every transaction once, in order, whatever happens to the connection."""

import asyncio
import random
from collections.abc import Callable

import pytest

from keydesk_client.errors import ConnectionLost, Refused, ServerFailed, StreamNotOpen
from keydesk_client.http.limits import ConnectRateLimiter
from keydesk_client.models import TransactionHeartbeat, TransactionID, UnknownTransaction
from keydesk_client.streams.settings import HistoryLost, Reconnected, StreamSettings
from keydesk_client.streams.transactions import TransactionItem, TransactionStream
from support.fakes.scripted_history import ScriptedHistory
from support.fakes.scripted_stream import (
    ScriptedStream,
    Step,
    heartbeat,
    transaction,
    transaction_members,
)
from support.fakes.virtual_time import run, virtual_timing

FOREVER = 1e6
RESET = ConnectionLost("reset")
MARKERS = (TransactionHeartbeat, Reconnected, HistoryLost)


def stream_of(
    opening: ScriptedStream, history: ScriptedHistory, since: int | None = None
) -> TransactionStream:
    timing = virtual_timing()
    rate_limiter = ConnectRateLimiter(timing)
    return TransactionStream(opening, history, rate_limiter, StreamSettings(), timing, since=since)


async def take(
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
        found = await take(stream_of(opening, ScriptedHistory(4)), up_to(6))
        assert isinstance(found[0], TransactionHeartbeat)
        assert ids(found) == [5, 6]

    run(body())


def test_with_since_the_earlier_transactions_come_first() -> None:
    async def body() -> None:
        opening = ScriptedStream([transaction(4), FOREVER])
        history = ScriptedHistory(4)
        found = await take(stream_of(opening, history, since=1), up_to(4))
        assert ids(found) == [2, 3, 4]
        assert history.asked == [(1, None)]

    run(body())


def test_after_a_cut_what_was_missed_comes_before_the_first_live_item() -> None:
    async def body() -> None:
        history = ScriptedHistory()
        opening = ScriptedStream(
            [transaction(1), history.grown_to(3), RESET], [transaction(4), FOREVER]
        )
        found = await take(stream_of(opening, history), up_to(4))
        assert [type(item).__name__ for item in found][1] == "Reconnected"
        assert ids(found) == [1, 2, 3, 4]

    run(body())


def test_also_when_the_first_live_item_is_a_heartbeat_that_tells_of_more() -> None:
    async def body() -> None:
        history = ScriptedHistory()
        opening = ScriptedStream(
            [history.grown_to(1), transaction(1), RESET], [5.0, heartbeat(4), FOREVER]
        )
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
        history = ScriptedHistory()
        opening = ScriptedStream([history.grown_to(4), transaction(1) + transaction(4), FOREVER])
        assert ids(await take(stream_of(opening, history), up_to(4))) == [1, 2, 3, 4]
        assert history.asked == [(0, None), (2, 3)]

    run(body())


def test_repeated_and_disordered_transactions_are_delivered_once_in_order() -> None:
    async def body() -> None:
        lines = [transaction(number) for number in (1, 2, 1, 3, 2, 5, 4, 5, 6)]
        history = ScriptedHistory()
        opening = ScriptedStream([history.grown_to(6), b"".join(lines), FOREVER])
        assert ids(await take(stream_of(opening, history), up_to(6))) == [*range(1, 7)]

    run(body())


def test_a_large_gap_is_filled_range_by_range() -> None:
    async def body() -> None:
        history = ScriptedHistory(most=400)
        opening = ScriptedStream(
            [history.grown_to(5000), transaction(1), RESET], [heartbeat(5000), FOREVER]
        )
        found = await take(stream_of(opening, history), up_to(5000))
        assert ids(found) == [*range(1, 5001)]

    run(body())


def test_a_service_whose_replicas_lag_is_asked_again() -> None:
    async def body() -> None:
        history = ScriptedHistory()
        lags = iter([0, 0, 2, 2, 1])
        history.lag = lambda: next(lags, 0)
        opening = ScriptedStream([history.grown_to(3), transaction(1) + heartbeat(3), FOREVER])
        assert ids(await take(stream_of(opening, history), up_to(3))) == [1, 2, 3]

    run(body())


def test_when_asking_fails_the_connection_is_made_anew_and_nothing_is_lost() -> None:
    async def body() -> None:
        history = ScriptedHistory()
        failures = iter([None, RESET, RESET])
        history.failure = lambda: next(failures, None)
        opening = ScriptedStream(
            [history.grown_to(4), transaction(1) + transaction(4), FOREVER],
            [heartbeat(4), FOREVER],
        )
        assert ids(await take(stream_of(opening, history), up_to(4))) == [1, 2, 3, 4]

    run(body())


def test_a_hole_in_the_history_is_reported() -> None:
    async def body() -> None:
        history = ScriptedHistory()
        history.holes = {3}
        lines = transaction(1) + transaction(2) + transaction(4)
        opening = ScriptedStream([history.grown_to(4), lines, FOREVER])
        found = await take(stream_of(opening, history), lambda it: isinstance(it[-1], HistoryLost))
        assert ids(found) == [1, 2]
        assert found[-1] == HistoryLost(TransactionID("2"))

    run(body())


def test_a_service_that_knows_less_than_we_do_has_lost_the_history_and_the_stream_begins_anew() -> (
    None
):
    async def body() -> None:
        history = ScriptedHistory(8)
        opening = ScriptedStream(
            [transaction(9), history.grown_to(3), RESET], [transaction(4), FOREVER]
        )
        found = await take(stream_of(opening, history), lambda it: ids(it)[-1:] == [4])
        assert [item for item in found if isinstance(item, HistoryLost)] == [
            HistoryLost(TransactionID("9"))
        ]
        assert ids(found) == [9, 4]

    run(body())


def test_after_an_id_that_never_was_a_heartbeat_that_knows_less_begins_the_stream_anew() -> None:
    async def body() -> None:
        history = ScriptedHistory(10**12)
        opening = ScriptedStream(
            [heartbeat(10**12), history.grown_to(4), heartbeat(4), transaction(5), FOREVER]
        )
        found = await take(stream_of(opening, history), up_to(5))
        assert [type(item).__name__ for item in found[:-1]] == [
            "TransactionHeartbeat",
            "HistoryLost",
            "TransactionHeartbeat",
        ]
        assert len(opening.opened_at) == 1

    run(body())


def test_a_heartbeat_with_an_older_id_loses_nothing() -> None:
    async def body() -> None:
        history = ScriptedHistory(4)
        opening = ScriptedStream(
            [history.grown_to(5), transaction(5), heartbeat(4), transaction(6), FOREVER]
        )
        found = await take(stream_of(opening, history), up_to(6))
        assert ids(found) == [5, 6]
        assert not any(isinstance(item, HistoryLost) for item in found)

    run(body())


def test_kinds_that_are_newer_than_this_library_are_delivered() -> None:
    async def body() -> None:
        opening = ScriptedStream([transaction(1, "TELEPORT"), FOREVER])
        (found,) = await take(stream_of(opening, ScriptedHistory()), up_to(1))
        assert isinstance(found, UnknownTransaction)
        assert found.type == "TELEPORT"

    run(body())


def test_a_garbled_line_ends_the_connection_and_its_transaction_is_read() -> None:
    async def body() -> None:
        history = ScriptedHistory()
        garbled = transaction(1) + b'{"id":"2","ty\n'
        opening = ScriptedStream([history.grown_to(2), garbled, FOREVER], [heartbeat(2), FOREVER])
        found = await take(stream_of(opening, history), up_to(2))
        assert ids(found) == [1, 2]

    run(body())


def test_a_heartbeat_with_nothing_but_its_time_is_delivered() -> None:
    async def body() -> None:
        opening = ScriptedStream([heartbeat(), transaction(7), FOREVER])
        found = await take(stream_of(opening, ScriptedHistory(6)), up_to(7))
        assert isinstance(found[0], TransactionHeartbeat)
        assert ids(found) == [7]

    run(body())


@pytest.mark.parametrize("line", [b'{"id":"4","ty\n', b"nonsense\n", b"[[[[\n", b"\xff\n"])
def test_after_an_unreadable_line_its_transaction_is_read_on_the_same_connection(
    line: bytes,
) -> None:
    async def body() -> None:
        history = ScriptedHistory(3)
        opening = ScriptedStream([0.2, history.grown_to(5), line, 5.0, transaction(6), FOREVER])
        stream = stream_of(opening, history)
        async with stream:
            found = [await anext(stream) for _ in range(3)]
        assert ids(found) == [4, 5, 6]
        assert (stream.health.connects, stream.health.unreadable) == (1, 1)

    run(body())


def test_many_unreadable_lines_cause_one_request_a_second() -> None:
    async def body() -> None:
        history = ScriptedHistory(3)
        flood: list[Step] = [b"nonsense\n", 0.01] * 500
        opening = ScriptedStream([*flood, history.grown_to(4), b"nonsense\n", FOREVER])
        stream, clock = stream_of(opening, history), asyncio.get_running_loop().time
        began = clock()
        async with stream:
            assert ids([await anext(stream)]) == [4]
        assert stream.health.unreadable > 400
        assert len(history.asked) <= clock() - began + 3

    run(body())


@pytest.mark.parametrize("first", [[RESET], [heartbeat()[:9], RESET]])
def test_what_happens_before_the_first_line_is_delivered_though_the_connection_never_told_it(
    first: list[Step],
) -> None:
    async def body() -> None:
        history = ScriptedHistory(3)
        opening = ScriptedStream(
            [0.2, history.grown_to(5), *first], [heartbeat(5), transaction(6), FOREVER]
        )
        found = await take(stream_of(opening, history), up_to(6))
        assert isinstance(found[0], Reconnected)
        assert ids(found) == [4, 5, 6]

    run(body())


def test_also_when_no_connection_could_be_made_at_first() -> None:
    async def body() -> None:
        history = ScriptedHistory(3)
        opening = ScriptedStream([RESET], [heartbeat(5), transaction(6), FOREVER])
        stream = stream_of(opening, history)
        async with stream:
            history.last = 5
            found = [await anext(stream) for _ in range(4)]
        assert ids(found) == [4, 5, 6]

    run(body())


def test_a_stream_counts_as_entered_once_it_is_known_where_it_begins() -> None:
    async def body() -> None:
        history = ScriptedHistory(3)
        history.newest_failures = [RESET, ServerFailed("busy", status=503), RESET]
        opening = ScriptedStream([transaction(4), FOREVER])
        stream = stream_of(opening, history)
        async with stream:
            assert history.newest_failures == []
            assert ids([await anext(stream)]) == [4]
        assert stream.health.attempts == 1

    run(body())


def test_pauses_before_asking_again_where_to_begin_grow_as_they_do_before_reconnecting() -> None:
    async def body() -> None:
        history = ScriptedHistory(3)
        history.newest_failures = [RESET] * 20
        stream = stream_of(ScriptedStream([heartbeat(3), FOREVER]), history)
        clock = asyncio.get_running_loop().time
        began = clock()
        async with stream:
            assert 20.0 < clock() - began < 20 * StreamSettings().max_backoff_s

    run(body())


def test_a_refusal_to_say_where_to_begin_is_raised_where_somebody_iterates() -> None:
    async def body() -> None:
        history = ScriptedHistory(3)
        history.newest_failures = [Refused("no such account", status=404, explained=True)]
        stream = stream_of(ScriptedStream([heartbeat(3), FOREVER]), history)
        async with stream:
            with pytest.raises(Refused):
                await anext(stream)

    run(body())


def test_cancelling_the_entry_of_a_stream_leaves_no_task_behind() -> None:
    async def body() -> None:
        history = ScriptedHistory(3)
        history.newest_failures = [RESET] * 1000
        stream = stream_of(ScriptedStream([heartbeat(3), FOREVER]), history)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(60), stream:
                pytest.fail("it was entered")
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run(body())


def test_transactions_made_while_a_lost_history_is_reported_are_delivered() -> None:
    async def body() -> None:
        history = ScriptedHistory(8)
        opening = ScriptedStream(
            [transaction(9), history.grown_to(3), RESET],
            [history.grown_to(5), RESET],
            [heartbeat(5), FOREVER],
        )
        history.newest_failures = []
        found = await take(stream_of(opening, history), lambda it: ids(it)[-1:] == [5])
        assert [item for item in found if isinstance(item, HistoryLost)] == [
            HistoryLost(TransactionID("9"))
        ]
        assert ids(found) == [9, 4, 5]

    run(body())


def test_an_answer_that_does_not_tell_the_newest_id_is_used_for_what_it_has() -> None:
    async def body() -> None:
        history = ScriptedHistory(5)
        history.tells_last = False
        opening = ScriptedStream([transaction(8), FOREVER])
        stream = stream_of(opening, history, since=3)
        found: list[TransactionItem] = []
        async with stream:
            found += [await anext(stream), await anext(stream)]
            history.last = 8
            found += [await anext(stream) for _ in range(3)]
        assert ids(found) == [4, 5, 6, 7, 8]

    run(body())


def without_id(number: int, unreadable: int) -> dict[str, object]:
    members = transaction_members(number)
    if number == unreadable:
        del members["id"]
    return members


def test_a_transaction_without_an_id_is_asked_for_again() -> None:
    async def body() -> None:
        history = ScriptedHistory(5)
        spoilt = iter([True, True])
        history.members = lambda number: without_id(number, 4 if next(spoilt, False) else 0)
        opening = ScriptedStream([heartbeat(5), FOREVER])
        stream = stream_of(opening, history, since=3)
        assert ids(await take(stream, up_to(5))) == [4, 5]
        assert stream.health.unreadable == 1

    run(body())


def test_a_transaction_that_never_has_an_id_is_reported_as_lost_and_the_stream_goes_on() -> None:
    async def body() -> None:
        history = ScriptedHistory(5)
        history.members = lambda number: without_id(number, 4)
        opening = ScriptedStream([heartbeat(5), transaction(6), FOREVER])
        stream = stream_of(opening, history, since=2)
        found = await take(stream, up_to(6))
        assert [item for item in found if isinstance(item, HistoryLost)] == [
            HistoryLost(TransactionID("3"))
        ]
        assert ids(found) == [3, 6]
        assert stream.health.unreadable > 1

    run(body())


def cut_at_random(draw: random.Random, last: int) -> tuple[list[list[Step]], int]:
    """Return connections that each show a random part of the ledger's end, cut anywhere, also inside a line."""
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
        return ids(await take(stream_of(opening, ScriptedHistory(last), since=0), up_to(last)))

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
