"""A planted token is nowhere to be seen: not in what objects show, not in logs, not in what an error carries."""

import logging
import pickle
import socket
import traceback
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

import httpx
import pytest

from keydesk_client import Client, Secret
from keydesk_client.errors import InvalidSettings, KeydeskClientError

PLANTED = "planted-0123456789abcdef"


def client_to(rest_url: str, carrier: httpx.AsyncBaseTransport | None = None) -> Client:
    return Client(
        token=PLANTED, rest_url=rest_url, stream_url=rest_url, account_id="1", carrier=carrier
    )


def shown(thing: object, seen: set[int] | None = None) -> Iterator[str]:
    """What repr and vars show of an object and of all that it is made of."""
    seen = set() if seen is None else seen
    if id(thing) in seen or isinstance(thing, type):
        return
    seen.add(id(thing))
    yield repr(thing)
    inside = dict(getattr(thing, "__dict__", {}))
    if isinstance(thing, dict):
        inside |= {repr(key): value for key, value in thing.items()}
    elif isinstance(thing, list | tuple | set | frozenset):
        inside |= {str(place): item for place, item in enumerate(thing)}
    for value in inside.values():
        yield from shown(value, seen)


async def test_a_client_and_all_that_it_is_made_of_show_no_token() -> None:
    carrier = httpx.MockTransport(lambda _: httpx.Response(200, json={"accounts": []}))
    async with client_to("https://rest.test", carrier) as client:
        await client.accounts.list()
        assert not [text for text in shown(client) if PLANTED in text]


def test_a_token_is_not_pickled() -> None:
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(Secret(PLANTED))


def frames(error: BaseException) -> Iterator[FrameType]:
    """The frames of an error and of everything that hangs on it, those of this file left out."""
    step: TracebackType | None = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename != __file__:
            yield step.tb_frame
        step = step.tb_next
    for other in (error.__cause__, error.__context__):
        if other is not None:
            yield from frames(other)


def told(error: BaseException) -> str:
    """Everything that an error tells: its words, its pickle, the locals of its traceback."""
    locals_ = [repr(value) for frame in frames(error) for value in frame.f_locals.values()]
    vars_ = [repr(value) for value in vars(error).values()]
    lines = traceback.format_exception(error)
    return "\n".join([str(error), repr(error), str(pickle.dumps(error)), *locals_, *vars_, *lines])


async def test_no_failure_tells_the_token(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    steps: list[Any] = [
        httpx.ConnectError("no"),
        httpx.ReadTimeout("slow"),
        httpx.Response(401, json={"errorMessage": "no"}),
        httpx.Response(500, text="<html>"),
        httpx.Response(200, text="<html>"),
        OSError("broken"),
    ]
    for step in steps:

        def answer(request: httpx.Request, step: object = step) -> httpx.Response:
            assert PLANTED in request.headers["authorization"]
            if isinstance(step, Exception):
                raise step
            assert isinstance(step, httpx.Response)
            return step

        client = client_to("https://rest.test", httpx.MockTransport(answer))
        with pytest.raises(KeydeskClientError) as raised:
            await client.positions.close("EUR_USD", long_units="ALL")
        assert PLANTED not in told(raised.value)
    assert PLANTED not in caplog.text


async def test_a_real_connection_leaves_no_token_in_logs_or_tracebacks(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    async with client_to(f"http://127.0.0.1:{port}") as client:
        with pytest.raises(KeydeskClientError) as raised:
            await client.positions.close("EUR_USD", long_units="ALL")
    assert PLANTED not in told(raised.value)
    assert PLANTED not in caplog.text


@pytest.mark.parametrize("bad", ["", " ", f"{PLANTED}\r\nX: 1", f"Bearer {PLANTED}", f"{PLANTED}ü"])
def test_a_token_that_can_not_be_one_is_refused_without_being_shown(bad: str) -> None:
    with pytest.raises(InvalidSettings) as raised:
        Client(token=bad, rest_url="https://rest.test", stream_url="https://rest.test")
    assert PLANTED not in told(raised.value)


def test_a_bad_address_does_not_show_the_token_either() -> None:
    with pytest.raises(InvalidSettings) as raised:
        client_to("http://example.test")
    assert PLANTED not in told(raised.value)
