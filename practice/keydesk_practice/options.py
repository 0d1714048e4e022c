"""The command-line options of `practice serve`, `practice reset` and `practice check`."""

import argparse
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

DEFAULT_PORT = 8020
DEFAULT_PRICE_RATE = 4.0
DEFAULT_RATE_LIMIT = 120
MIN_TOKEN, MAX_TOKEN = (
    8,
    1024,
)  # characters, as in the client: a shorter word could not be redacted from texts
DESCRIPTIONS = {
    "serve": "Serve the practice broker. Prints one JSON line when it listens.",
    "reset": "Begin a fresh ledger; the old one is kept beside it.",
    "check": "Check the ledger's rows against their checksums, while no broker runs on it; "
    "1 when it is damaged.",
}


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one command."""

    command: str
    data: Path
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    uds: Path | None = None
    seed: int | None = None
    start: int | None = None  # nanoseconds since 1970
    speed: float = 1.0
    hours: str = "always"
    tokens: tuple[str, ...] = ()
    fifo: bool = False
    price_rate: float = DEFAULT_PRICE_RATE
    rate_limit: int = DEFAULT_RATE_LIMIT
    trust_proxy: bool = False
    control_anywhere: bool = False
    faults: str | None = None
    origins: tuple[str, ...] = ()
    log_requests: bool = False
    paused: bool = False
    candles: tuple[tuple[str, Path], ...] = ()
    parent_fd: int | None = None
    ledger: str | None = field(default=None, repr=False)  # may name a password file


def read_arguments(argv: Sequence[str], environment: Mapping[str, str] = os.environ) -> Options:
    """Return the options of an argument list; exit with code 2 when they are invalid."""
    arguments = list(argv)
    command = arguments.pop(0) if arguments[:1] and arguments[0] in DESCRIPTIONS else "serve"
    parser = _parser(command)
    found = vars(parser.parse_args(arguments))
    found["data"] = found["data"] or default_data(environment)
    if command == "serve" and found["port"] is not None and found["uds"] is not None:
        parser.error("--port and --uds exclude each other")
    found["port"] = DEFAULT_PORT if found.get("port") is None else found["port"]
    found["tokens"] = _distinct(
        parser,
        [*(found.get("tokens") or ()), *_from_sources(found.pop("token_sources", None) or ())],
    )
    if found.get("ledger") is not None and not found["tokens"]:
        parser.error(
            "--ledger needs the tokens of its clients, the same for a standby: use --token-file"
        )
    found["candles"] = tuple(found.get("candles") or ())
    found["origins"] = tuple(found.get("origins") or ())
    return Options(command=command, **found)


def default_data(environment: Mapping[str, str]) -> Path:
    """Return the ledger's default folder: in `KEYDESK_HOME`, else in the XDG state folder."""
    if home := environment.get("KEYDESK_HOME"):
        return Path(home).expanduser().absolute() / "practice"
    state = environment.get("XDG_STATE_HOME", "")
    root = Path(state) if state.startswith("/") else Path.home() / ".local" / "state"
    return root / "keydesk" / "practice"


def _parser(command: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"keydesk practice {command}", description=DESCRIPTIONS[command]
    )
    add_arguments(command, parser)
    return parser


def add_arguments(command: str, parser: argparse.ArgumentParser) -> None:
    """Add the options of serve, reset or check."""
    if command != "serve":
        parser.add_argument("--data", type=Path, metavar="DIR", help="the ledger's folder")
        return
    _add_address_options(parser)
    parser.add_argument(
        "--fifo",
        action="store_true",
        help="open a token's netting account under US FIFO rules; an account keeps what it was "
        "opened with",
    )
    _add_market_options(parser)
    _add_limit_options(parser)
    parser.add_argument(
        "--ledger",
        type=_ledger,
        metavar="URL",
        help="a ledger on PostgreSQL: postgresql://USER@HOST/DATABASE, service=NAME, or @FILE with one of them in it; the "
        "password belongs into PGPASSFILE or that file; a second broker on it is a hot standby",
    )
    parser.add_argument("--parent-fd", type=int, help=argparse.SUPPRESS)


def _add_address_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--host", type=_host, default="127.0.0.1", help="address to listen on (%(default)s)"
    )
    parser.add_argument("--port", type=_port, help=f"port ({DEFAULT_PORT}); 0 takes a free one")
    parser.add_argument("--uds", type=Path, metavar="PATH", help="a unix socket instead of a port")
    parser.add_argument("--data", type=Path, metavar="DIR", help="the ledger's folder")
    parser.add_argument(
        "--token",
        dest="tokens",
        action="append",
        type=_token,
        metavar="T",
        help="the token to let in (default: a random one, kept in the data folder); repeated, "
        "each further token has accounts of its own",
    )

    for flag, read, metavar, text in (
        (
            "--token-file",
            _tokens_in_file,
            "FILE",
            "a file with a token on each line; # begins a comment",
        ),
        ("--token-fd", _tokens_of_descriptor, "N", "the same, from an open descriptor"),
    ):
        parser.add_argument(
            flag, dest="token_sources", action="append", type=read, metavar=metavar, help=text
        )
    parser.add_argument(
        "--cors-origin",
        dest="origins",
        action="append",
        type=_origin,
        metavar="URL",
        help="let pages of this origin read the answers; may be repeated (default: none)",
    )
    parser.add_argument(
        "--log-requests", action="store_true", help="a line on stderr for each request"
    )
    parser.add_argument(
        "--control-anywhere",
        action="store_true",
        help="let other machines use the control interface, too; it keeps its own token",
    )
    parser.add_argument(
        "--trust-proxy",
        action="store_true",
        help="build links from Forwarded and X-Forwarded-Proto, which a proxy in front sets",
    )


def _ledger(text: str) -> str:
    try:
        has_password = urlsplit(text).password is not None
    except ValueError:  # else argparse would repeat the text
        has_password = "@" in text
    if has_password or re.search(r"password\s*=", text, re.IGNORECASE):
        raise argparse.ArgumentTypeError(
            "other users of this machine can read a password here: write it into PGPASSFILE, or the "
            "whole address into a file of mode 0600 and use --ledger @FILE"
        )
    if not text.startswith(("postgresql://", "postgres://", "@")) and "=" not in text:
        raise argparse.ArgumentTypeError(
            "invalid ledger: use postgresql://USER@HOST/DATABASE, service=NAME or @FILE"
        )
    return text


def _from_sources(sources: Iterable[tuple[str, ...]]) -> list[str]:
    return [token for source in sources for token in source]


def _distinct(parser: argparse.ArgumentParser, tokens: Sequence[str]) -> tuple[str, ...]:
    if len(set(tokens)) < len(tokens):
        parser.error("the same token is given twice: each token has accounts of its own")
    return tuple(tokens)


def _tokens_in_file(text: str) -> tuple[str, ...]:
    try:
        return _tokens_of(Path(text).expanduser().read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise argparse.ArgumentTypeError(f"cannot read {text}: {reason}") from None


def _tokens_of_descriptor(text: str) -> tuple[str, ...]:
    try:
        with os.fdopen(int(text), encoding="utf-8") as file:
            return _tokens_of(file.read())
    except (OSError, ValueError):
        raise argparse.ArgumentTypeError(
            f"cannot read descriptor {text!r}: use the number of one that is open for reading"
        ) from None


def _tokens_of(text: str) -> tuple[str, ...]:
    lines = [line.strip() for line in text.splitlines()]
    tokens = tuple(_token(line) for line in lines if line and not line.startswith("#"))
    if not tokens:
        raise argparse.ArgumentTypeError("there is no token in it: write one on each line")
    return tokens


def _add_market_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seed", type=whole_number, metavar="N", help="which market; kept by the ledger"
    )
    parser.add_argument(
        "--start",
        type=_time,
        metavar="TIME",
        help="where the market's time begins; now: at the present",
    )
    parser.add_argument(
        "--speed", type=_positive, default=1.0, metavar="X", help="market seconds a second (1)"
    )
    parser.add_argument(
        "--paused", action="store_true", help="begin paused; `keydesk practice play` lets it run"
    )
    parser.add_argument(
        "--hours", choices=("always", "fx"), default="always", help="fx: closed at weekends"
    )
    parser.add_argument(
        "--candles",
        action="append",
        type=_candle_file,
        metavar="INSTRUMENT=FILE",
        help="replay your own candles for an instrument",
    )


def _add_limit_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--price-rate",
        type=_positive,
        default=DEFAULT_PRICE_RATE,
        metavar="N",
        help="prices a second and instrument (4)",
    )
    parser.add_argument(
        "--faults",
        metavar="PROFILE",
        help="simulate faults from the start: bad-line, bad-day, or a TOML file",
    )
    parser.add_argument(
        "--rate-limit",
        type=_count,
        default=DEFAULT_RATE_LIMIT,
        metavar="N",
        help="requests a second and token (%(default)s)",
    )


def _host(text: str) -> str:
    """Return a host; an empty one, as of a variable that is not set, would listen on every address."""
    if not text or not text.isascii() or not text.isprintable():
        raise argparse.ArgumentTypeError(
            f"invalid host {text!r}: use a name or an address such as 127.0.0.1; 0.0.0.0 is every address"
        )
    return text


def whole_number(text: str) -> int:
    """Return the whole number of an argument; the error says what is expected."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"invalid number {text!r}: use a whole number such as 5"
        ) from None


def _port(text: str) -> int:
    try:
        port = int(text)
    except ValueError:
        port = -1
    if not 0 <= port <= 65_535:  # noqa: PLR2004 - the range of ports
        raise argparse.ArgumentTypeError(f"invalid port {text!r}: use 0 to 65535")
    return port


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:  # noqa: PLR2004 - far above anything a machine can do
        raise argparse.ArgumentTypeError(f"invalid number {text!r}: use one above 0")
    return value


def _count(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"invalid number {text!r}: use a whole number, 1 or more")
    return value


def _token(text: str) -> str:
    if not text.isascii() or not text.isprintable() or " " in text or not text:
        raise argparse.ArgumentTypeError("invalid token: use printable ASCII without spaces")
    if not MIN_TOKEN <= len(text) <= MAX_TOKEN:
        raise argparse.ArgumentTypeError(
            f"invalid token length {len(text)}: use {MIN_TOKEN} to {MAX_TOKEN} characters,"
            " or omit --token for a random one"
        )
    return text


def _time(text: str) -> int:
    if text == "now":
        return time.time_ns()
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"invalid time {text!r}: use e.g. 2015-01-15T08:00Z, or now"
        ) from None
    return nanoseconds(found if found.tzinfo else found.replace(tzinfo=UTC))


def _origin(text: str) -> str:
    scheme, separator, host = text.partition("://")
    if text != "*" and not (separator and host and scheme in {"http", "https"} and "/" not in host):
        raise argparse.ArgumentTypeError(
            f"invalid origin {text!r}: use scheme and host, e.g. http://localhost:3000"
        )
    return text


def _candle_file(text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if not name or not equals or not path:
        raise argparse.ArgumentTypeError(
            f"invalid value {text!r}: use INSTRUMENT=FILE, e.g. EUR_USD=eurusd.csv"
        )
    return name, Path(path)


def nanoseconds(moment: datetime) -> int:
    """Return the nanoseconds since 1970 of an aware datetime."""
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000_000 + since.microseconds * 1_000
