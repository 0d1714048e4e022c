"""The package as its users and its neighbours see it."""

import ast
import asyncio
import inspect
import pickle
import pydoc
import re
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import httpx
import pytest

import keydesk_client
from keydesk_client import Client, models
from keydesk_client.models import MarketOrderRequest, OrderFillTransaction, Reader
from support.fakes.talking_server import talking_server

ROOT = Path(keydesk_client.__file__).parent


def imported_packages(file: Path) -> set[str]:
    """The top packages that a file imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found.add(node.module.split(".")[0])
    return found


def test_two_modules_alone_know_an_http_library() -> None:
    libraries = {"httpx", "httpcore", "h11", "anyio"}
    naming = (file for file in ROOT.rglob("*.py") if any(map(file.read_text().count, libraries)))
    files = [file for file in naming if imported_packages(file) & libraries]
    assert sorted(file.name for file in files) == ["network.py", "transport.py"]


@pytest.mark.e2e
def test_httpx_is_imported_when_the_first_client_is_made() -> None:
    code = (
        "import sys; from keydesk_client import Client, Sender, sync; print('httpx' in sys.modules);"
        "Client.practice('t'); print('httpx' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "True"]


def test_every_name_of_the_package_is_there() -> None:
    for name in keydesk_client.__all__:
        assert getattr(keydesk_client, name) is not None
        assert name in dir(keydesk_client)


def test_every_name_of_the_models_is_there_and_is_the_one_of_its_module() -> None:
    for name in models.__all__:
        found = getattr(models, name)
        home = getattr(found, "__module__", "")
        if home.startswith("keydesk_client.models"):
            assert getattr(import_module(home), name) is found


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    for package in (keydesk_client, models):
        with pytest.raises(AttributeError, match="Nothing"):
            _ = package.Nothing


@pytest.mark.e2e
def test_a_name_that_is_misspelt_brings_the_right_one_to_mind() -> None:
    asked = "import keydesk_client; keydesk_client.models.MarketOrderRequst"
    ran = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=False)
    assert "Did you mean: 'MarketOrderRequest'?" in ran.stderr


def test_every_record_can_be_found_by_completion() -> None:
    assert set(models.__all__) <= set(dir(models))
    assert {"errors", "models", "sync"} <= set(dir(keydesk_client))


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "py.typed").exists()


def test_a_record_pickles_with_what_it_does_not_know_and_without_what_was_not_sent() -> None:
    fill = Reader(OrderFillTransaction).read(b'{"id":"7","pl":"1.50","new":{"a":1}}')
    back = pickle.loads(pickle.dumps(fill))
    assert back.to_wire() == fill.to_wire() == {"id": "7", "pl": "1.50", "new": {"a": 1}}
    assert not hasattr(back, "units")


def test_a_record_shows_what_was_sent_and_no_more() -> None:
    fill = Reader(OrderFillTransaction).read(b'{"id":"7","pl":"1.50","new":1}')
    assert str(fill) == "OrderFillTransaction(type='ORDER_FILL', id='7', pl=Decimal('1.50'), new=1)"


async def test_the_neighbours_of_an_answer_are_named() -> None:
    links = (
        '<https://r.test/v3/instruments/EUR_USD/orderBook?time=1>; rel="prev", '
        "<https://r.test/v3/instruments/EUR_USD/orderBook?time=3>; rel=next"
    )

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"orderBook": {}}, headers={"Link": links})

    url = "https://r.test"
    client = Client(token="t", rest_url=url, stream_url=url, transport=httpx.MockTransport(answer))
    book = await client.books.order("EUR_USD")
    assert {relation: address[-6:] for relation, address in book.links.items()} == {
        "prev": "time=1",
        "next": "time=3",
    }


@pytest.mark.parametrize("reader", [inspect.getdoc, pydoc.render_doc])
def test_help_tells_what_each_member_of_a_record_is(reader: Callable[[type], str]) -> None:
    text = re.sub(r"^ \|", "", pydoc.plain(reader(MarketOrderRequest)), flags=re.MULTILINE)
    told = " ".join(text.split())
    assert "Body of a market order. Members:" in told
    assert "units: Decimal Signed size: positive buys, negative sells." in told
    assert "price_bound: Decimal | None = None Worst price accepted." in told


async def test_an_area_shows_its_calls() -> None:
    url = "https://r.test"
    client = Client(token="t" * 8, rest_url=url, stream_url=url)
    assert repr(client.books) == "<Books: order, position>"


async def test_every_request_says_which_version_of_the_client_sends_it() -> None:
    heads: list[bytes] = []

    async def keep_the_head(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"accounts":[]}')

    async with (
        talking_server(keep_the_head) as url,
        Client(token="planted", rest_url=url, stream_url=url) as client,
    ):
        await client.accounts.list()
    assert f"User-Agent: keydesk-client/{keydesk_client.__version__}\r\n".encode() in heads[0]
