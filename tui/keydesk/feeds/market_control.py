"""The client of the practice broker's control interface: the market's clock, replays, shocks, faults and checkpoints.

The control token stands in a file of the broker's data folder that only its user may read. It is sent to the address that
the broker itself wrote beside it, and to no other; no error shows it.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Self
from urllib.parse import quote

from keydesk.calc.market.market_state import Home, KeptAccount, MarketState, Replay, Scenario
from keydesk.parse.replay import ReplayCommand
from keydesk.text.sanitize import clean
from keydesk_client.account.values import READ_ERRORS, amount, checked_time_ns, number_of
from keydesk_client.auth.private_files import read_private
from keydesk_client.auth.secret import Secret
from keydesk_client.errors import AnswerTooLarge, KeydeskClientError, TimedOut, UnsafeFile
from keydesk_client.http.messages import HttpResponse, Method, Request
from keydesk_client.http.session import Session
from keydesk_client.http.timing import Timeouts
from keydesk_client.http.transport import PassedTransport
from keydesk_client.models._core.scalars import DateTime

BASE = "/control/v1"
ADDRESS_FILE, TOKEN_FILE = "control.json", "control-token"
STATE_TIMEOUT = 5.0  # seconds for an answer of the state
LONG_PATIENCE = 600.0  # a jump over months ticks every account
MAX_BYTES = 1_000_000  # bytes of an answer
MAX_FILE_BYTES = 10_000
MAX_TEXTS = 50
MAX_COUNT = 1_000_000
MAX_TEXT_LENGTH = 200
FIRST_ERROR = 400
FASTEST = 1e9
Json = Mapping[str, object]
NOT_JSON = "the answer is not a JSON object: is this address a practice market?"


class ControlRefused(Exception):
    """Raised when a command is refused or not answered; the text gives the reason."""


class MarketControl:
    """An open connection to the control interface of one broker.

    Args:
        url: The broker's address: http://host:port or http+unix://path.
        token: The control token.
        transport: Carries the requests, as that of `Client`; by default connections of the client to the address.
    """

    def __init__(self, url: str, token: Secret, transport: "PassedTransport | None" = None) -> None:
        self._token = token
        self._reads, self._commands = (
            Session(token, url, url, timeouts=_within(seconds), transport=transport, is_paced=False)
            for seconds in (STATE_TIMEOUT, LONG_PATIENCE)
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._reads.close()
        await self._commands.close()

    async def state(self) -> MarketState:
        """Return the market's state; raise `ControlRefused` without an answer."""
        return state_of(await self._ask("GET", "/state"))

    async def scenarios(self) -> tuple[Scenario, ...]:
        """Return the named scenarios; those that cannot be read are left out."""
        answer = await self._ask("GET", "/scenarios")
        records = (_scenario(each) for each in _records(answer, "scenarios"))
        return tuple(each for each in records if each is not None)

    async def checkpoints(self) -> tuple[str, ...]:
        """Return the names of the saved checkpoints."""
        return _texts(await self._ask("GET", "/checkpoints"), "checkpoints")

    async def send(self, command: ReplayCommand, account_id: str) -> None:
        """Carry out a command; raise `ControlRefused` with the broker's words if it is refused."""
        path = command.path.replace("{account}", quote(account_id, safe=""))
        if command.method:
            await self._ask(command.method, path, command.body)

    async def _ask(self, method: Method, path: str, body: Json | None = None) -> Json:
        response = await self._response(method, path, body)
        answer = _decoded(response.body)
        if response.status >= FIRST_ERROR:
            message = answer.get("errorMessage") if answer is not None else None
            raise ControlRefused(self._words(str(message or f"HTTP {response.status}")))
        if answer is None:
            raise ControlRefused(NOT_JSON)
        return answer

    async def _response(self, method: Method, path: str, body: Json | None) -> HttpResponse:
        has_body = body is not None and method != "DELETE"
        request = Request(
            method, f"{BASE}{path}", body=json.dumps(body).encode() if has_body else None
        )
        transport = self._reads if request.is_read else self._commands
        try:
            return await transport.request(request, MAX_BYTES)
        except AnswerTooLarge:
            why = NOT_JSON
        except TimedOut:
            seconds = transport.timeouts.read
            why = f"the practice market did not answer within {seconds:.0f} s"
        except KeydeskClientError as error:
            why = f"the practice market did not answer: {error}"
        raise ControlRefused(self._words(why))

    def _words(self, text: str) -> str:
        return clean(self._token.redact(text), MAX_TEXT_LENGTH)


def _within(seconds: float) -> Timeouts:
    """Return the time-outs of requests that may take so long once they are sent."""
    return Timeouts(connect=STATE_TIMEOUT, read=seconds, whole=seconds + STATE_TIMEOUT)


def control_in(data: Path, url: str) -> tuple[str, Secret] | None:
    """Return address and token of the control interface, if the broker of this data folder listens at `url`."""
    try:
        members = json.loads(read_private(data / ADDRESS_FILE, MAX_FILE_BYTES))
        address = str(members["url"])
        token = read_private(data / TOKEN_FILE, MAX_FILE_BYTES).decode("ascii").strip()
    except (OSError, UnsafeFile, ValueError, KeyError, TypeError):
        return None
    if not token or address.rstrip("/") != url.rstrip("/"):
        return None
    return address, Secret(token)


def state_of(answer: Json) -> MarketState:
    """Return the state of an answer; raise `ControlRefused` if a member is missing or unusable."""
    try:
        number = answer.get("ledgerNumber", 0)
        return MarketState(
            time_ns=_time(answer["time"]),
            running=answer["running"] is True,
            speed=_speed(answer["speed"]),
            replay=_replay(answer.get("replay")),
            shocks=tuple(_shock(each) for each in _records(answer, "shocks")),
            faults=_texts(answer, "faults"),
            ledger_number=number if isinstance(number, int) else 0,
            read_at=monotonic(),
        )
    except (KeyError, ValueError, TypeError) as error:
        raise ControlRefused(f"the market's state cannot be read: {clean(str(error))}") from None


def _speed(value: object) -> float:
    speed = float(str(value)[:MAX_TEXT_LENGTH])
    if not 0 < speed < FASTEST:
        raise ValueError(f"{speed:g} is out of range for a speed")
    return speed


def _replay(value: object) -> Replay | None:
    if not isinstance(value, dict):
        return None
    return Replay(
        blind=value.get("blind") is True,
        finished=value.get("finished") is True,
        scenario=_text(value.get("scenario")),
        instrument=_text(value.get("instrument")),
        began_ns=_time(value["began"]) if value.get("began") else 0,
        real_ns=_time(value["realTime"]) if value.get("realTime") else 0,
        home=_home(value.get("home")),
    )


def _home(value: object) -> Home | None:
    """Return what a replay goes back to; accounts that cannot be read are left out."""
    if not isinstance(value, dict):
        return None
    accounts: dict[str, KeptAccount] = {}
    for each in _records(value, "accounts"):
        with suppress(*READ_ERRORS):
            accounts[_text(each["id"])] = _kept(each)
    return Home(_time(value["left"]) if value.get("left") else 0, accounts)


def _kept(record: Json) -> KeptAccount:
    balance = amount(Decimal(str(record["balance"])[:MAX_TEXT_LENGTH]))
    trades, orders = (number_of(str(record[name])) for name in ("openTrades", "pendingOrders"))
    return KeptAccount(_text(record["currency"]), balance, trades, orders)


def _shock(shock: Json) -> str:
    names = shock.get("instruments")
    of = ", ".join(map(str, names[:3])) if isinstance(names, list) else ""
    what = shock.get("currency") or of or "every instrument"
    return _text(f"{shock['kind']} {shock['size']} {what} from {str(shock['begins'])[11:19]}")


def _scenario(record: Json) -> Scenario | None:
    try:
        name, instrument = _text(record["name"]), _text(record["instrument"])
        if not name or name != str(record["name"]):  # it could not be typed
            return None
        days, pips = (_count(record.get(member)) for member in ("days", "rangePips"))
        return Scenario(
            name, _time(record["start"]), instrument, _text(record.get("facts")), days, pips
        )
    except (KeyError, ValueError):
        return None


def _count(value: object) -> int:
    """Return a whole number up to a million, 0 for anything else."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_COUNT
    return int(str(value)) if is_count else 0


def _time(value: object) -> int:
    return checked_time_ns(DateTime(str(value)[:MAX_TEXT_LENGTH]))


def _text(value: object) -> str:
    return "" if value is None else clean(str(value), MAX_TEXT_LENGTH)


def _texts(answer: Json, name: str) -> tuple[str, ...]:
    value = answer.get(name)
    return tuple(map(_text, value[:MAX_TEXTS])) if isinstance(value, list) else ()


def _records(answer: Json, name: str) -> list[dict[str, object]]:
    value = answer.get(name)
    listed = value[:MAX_TEXTS] if isinstance(value, list) else []
    return [each for each in listed if isinstance(each, dict)]


def _decoded(body: bytes) -> dict[str, object] | None:
    if len(body) > MAX_BYTES:
        return None
    try:
        value = json.loads(body)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
