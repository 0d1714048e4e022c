"""`keydesk practice pause`, `play`, `step`, ...: the control interface from the command line."""

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from keydesk_practice.control.client import ControlClient
from keydesk_practice.control.fault_files import read_profile
from keydesk_practice.control.leaderboard import REFRESH_SECONDS, run_room
from keydesk_practice.control.ledger_commands import (
    add_ledgers,
    change_without_broker,
    check_ledgers,
    ledger_lines,
    ledgers_request,
)
from keydesk_practice.engine.wire_form import to_wire
from keydesk_practice.errors import ControlFailed
from keydesk_practice.http.faults import PROFILES
from keydesk_practice.ledger.ledger_file import is_in_use
from keydesk_practice.options import DESCRIPTIONS, add_arguments, default_data, whole_number

Body = dict[str, Any]
Answer = dict[str, Any]
Sent = tuple[str, str, Body | None]
_AMOUNT = re.compile(r"[0-9]+(\.[0-9]+)?")
FASTEST = 100_000.0  # market seconds a second, as the broker takes them
_SHORTEST_REFRESH, _MAX_REFRESH = 0.1, 86_400.0  # seconds
_ACCOUNT_VERBS = ("add", "reset", "clone", "deposit", "withdraw", "margin")


def run_command(arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> int:
    """Run one command on a running broker and print the answer; raise `ControlFailed` when it is refused."""
    options = _options(arguments)
    data = options.data or default_data(environment)
    if options.command == "ledgers" and not is_in_use(data):
        answer = change_without_broker(data, options)
        print(json.dumps(answer) if options.json else text_of(answer))  # noqa: T201 - the command's output
        return 0
    client = ControlClient.of_data_folder(data)
    if options.command == "room":
        return run_room(client, options)
    method, path, body = request_of(options)
    answer = client.call(method, path, body)
    print(json.dumps(answer) if options.json else text_of(answer))  # noqa: T201 - the command's output
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command == "room" and options.action != "reset":
        for given, option in (
            (options.accounts, "ACCOUNT"),
            (options.balance, "--balance"),
            (options.yes, "--yes"),
        ):
            if given:
                parser.error(
                    f"{option} goes with room reset: room {options.action} concerns every account"
                )
    if options.command == "ledgers":
        check_ledgers(parser, options)
    return options


def request_of(options: argparse.Namespace) -> Sent:
    """Return method, path and body of the request that a command makes."""
    return _REQUESTS[options.command](options)


def text_of(answer: Answer) -> str:
    """Return an answer as lines for people."""
    if "running" in answer:
        return "\n".join(_state_lines(answer))
    if "scenarios" in answer:
        return "\n".join(
            f"{one['name']:<18}{one['start'][:16]}Z  {one['instrument']}  {one['facts']}"
            for one in answer["scenarios"]
        )
    if "ledgers" in answer:
        return "\n".join(ledger_lines(answer["ledgers"]))
    if "checkpoints" in answer:
        return "\n".join(answer["checkpoints"]) or "No checkpoint is saved."
    if "currency" in answer:
        return _account_line(answer)
    return "\n".join(f"{name}: {value}" for name, value in answer.items())


def _state_lines(state: Answer) -> list[str]:
    state_text = f"running, speed {state['speed']}" if state["running"] else "paused"
    lines = [f"{state['time'][:19]}Z  {state_text}"]
    if replay := state.get("replay"):
        lines.append(_replay_line(replay))
    lines += [f"fault: {one}" for one in state.get("faults", ())]
    lines += [
        f"shock: {one['kind']} {one['size']} {one.get('currency') or ', '.join(one['instruments'])} from {one['begins'][:19]}Z"
        for one in state.get("shocks", ())
    ]
    return [*lines, *map(_account_line, state.get("accounts", ()))]


def _replay_line(replay: Answer) -> str:
    if replay["blind"] and not replay["finished"]:
        return "blind replay: instrument and date are hidden until `keydesk practice finish`"
    what = replay.get("scenario") or replay.get("instrument") or "replay"
    instrument = f" {replay['instrument']}" if replay.get("instrument") else ""
    return f"{what}:{instrument} from {replay['began'][:16]}Z, now {replay['realTime'][:19]}Z"


def _account_line(account: Answer) -> str:
    kind = "hedging" if account["hedging"] else "fifo" if account["fifo"] else "netting"
    return (
        f"{account['id']}  {account['currency']} {kind:<8} balance {account['balance']}  "
        f"NAV {account['nav']}  {account['openTrades']} trades  {account['pendingOrders']} orders"
    )


def _replay(options: argparse.Namespace) -> Body:
    body = _given(
        scenario=options.scenario,
        start=options.start,
        instrument=options.instrument,
        balance=options.balance,
        draw=options.draw,
        speed=options.speed,
    )
    flags = {
        "random": options.random,
        "present": options.present,
        "blind": options.blind,
        "running": options.play,
    }
    return {**body, **{name: True for name, is_set in flags.items() if is_set}}


def _shock(options: argparse.Namespace) -> Sent:
    if options.kind == "none":
        return "DELETE", "/shocks", None
    body = _given(
        kind=options.kind,
        instrument=options.instrument,
        size=options.size,
        seconds=options.seconds,
        time=options.at,
    )
    return "POST", "/shocks", body


def _faults(options: argparse.Namespace) -> Sent:
    if options.profile == "off":
        return "DELETE", "/faults", None
    if options.profile in PROFILES:
        return "PUT", "/faults", {"name": options.profile}
    return "PUT", "/faults", {"profile": to_wire(read_profile(options.profile))}


def _checkpoint(options: argparse.Namespace) -> Sent:
    if options.action == "list":
        return "GET", "/checkpoints", None
    path = "/checkpoints" if options.action == "save" else "/checkpoints/restore"
    return "POST", path, {"name": options.name}


def _account(options: argparse.Namespace) -> Sent:
    if options.action == "add":
        terms = _given(
            owner=options.owner,
            currency=options.currency,
            balance=options.balance,
            marginRate=options.margin_rate,
            alias=options.alias,
        )
        flags = {"hedging": options.hedging, "fifo": options.fifo}
        return "POST", "/accounts", {**terms, **{name: True for name, one in flags.items() if one}}
    path = f"/accounts/{quote(options.account, safe='', errors='replace')}"
    match options.action:
        case "reset":
            terms = _given(
                balance=options.balance,
                currency=options.currency,
                marginRate=options.margin_rate,
                hedging=options.hedging,
            )
            return "POST", f"{path}/reset", terms
        case "clone":
            return "POST", f"{path}/clone", {}
        case "margin":
            return "POST", f"{path}/margin", {"marginRate": options.rate}
        case action:
            sign = "-" if action == "withdraw" else ""
            return "POST", f"{path}/transfer", {"amount": f"{sign}{options.amount}"}


def _given(**members: object) -> Body:
    return {name: value for name, value in members.items() if value is not None}


def _token_from(file: Path | None) -> str | None:
    if file is None:
        return None
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise ControlFailed(f"--token-file: cannot read {file}: {reason}") from None
    return text.strip()


def _amount(text: str) -> str:
    if not _AMOUNT.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"invalid amount {text!r}: use a number above 0 such as 500 or 12.50"
        )
    return text


def _speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0 < speed <= FASTEST:
        raise argparse.ArgumentTypeError(
            f"invalid speed {text!r}: use a number above 0, at most {FASTEST:g}, such as 60 "
            "for a minute of the market in each second"
        )
    return speed


def _refresh(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not _SHORTEST_REFRESH <= seconds <= _MAX_REFRESH:
        raise argparse.ArgumentTypeError(
            f"invalid number of seconds {text!r}: use {_SHORTEST_REFRESH:g} to {_MAX_REFRESH:g}"
        )
    return seconds


def overview() -> str:
    """Return the help that lists every command of `keydesk practice`."""
    return whole_parser().format_help()


def whole_parser() -> argparse.ArgumentParser:
    """Return a parser of every command of `keydesk practice`, for its help, completions and man page."""
    return _parser(
        serve="Serve the practice broker; also without a command.",
        reset="Move the ledger aside: the next start has a new account.",
        check="Verify the ledger.",
    )


def _parser(**others: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="keydesk practice",
        description="Serve the practice broker, or control a running one. Each command has --help.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text in others.items():
        add_arguments(name, commands.add_parser(name, help=text, description=DESCRIPTIONS[name]))
    _add_clock(commands)
    _add_replays(commands)
    add_ledgers(
        _command(
            commands, "ledgers", "List, open, name or delete the ledgers kept beside this one."
        )
    )
    _add_accounts(commands)
    _add_room(commands)
    return parser


def _command(commands: Any, name: str, text: str) -> argparse.ArgumentParser:  # noqa: ANN401 - argparse's private type
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    parser.add_argument("--data", type=Path, metavar="DIR", help="the running broker's folder")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    return parser


def _add_clock(commands: Any) -> None:  # noqa: ANN401
    _command(commands, "status", "Show time, speed, replay, shocks, faults and accounts.")
    _command(commands, "pause", "Stop the market's time.")
    play = _command(commands, "play", "Let the market run on.")
    play.add_argument("--speed", type=_speed, metavar="X", help="market seconds a second")
    speed = _command(commands, "speed", "Change the market's speed.")
    speed.add_argument("speed", type=_speed, metavar="X", help="market seconds a second")
    step = _command(commands, "step", "Pause, and go on to the end of the candle in progress.")
    step.add_argument(
        "candles", type=whole_number, nargs="?", default=1, metavar="N", help="candles (1)"
    )
    step.add_argument("--granularity", default="M1", metavar="G", help="S5 to M (%(default)s)")
    jump = _command(commands, "jump", "Go on to a later time.")
    jump.add_argument("time", metavar="TIME", help="such as 2015-01-15T09:29:50Z")


def _add_replays(commands: Any) -> None:  # noqa: ANN401
    _command(commands, "scenarios", "List the named scenarios.")
    replay = _command(
        commands, "replay", "Replay another time with fresh accounts, paused; --present comes back."
    )
    replay.add_argument("scenario", nargs="?", help="a named scenario")
    replay.add_argument("--start", metavar="TIME", help="a time of your own")
    replay.add_argument("--random", action="store_true", help="a time drawn at random")
    replay.add_argument(
        "--present", action="store_true", help="back to the accounts that were left, and to now"
    )
    replay.add_argument(
        "--draw", type=whole_number, metavar="N", help="draw the same random time again"
    )
    replay.add_argument("--blind", action="store_true", help="hide instrument and date")
    replay.add_argument("--instrument", metavar="NAME", help="what is hidden (default: drawn)")
    replay.add_argument("--balance", metavar="AMOUNT", help="of every account (as of a new one)")
    replay.add_argument("--speed", type=_speed, metavar="X", help="market seconds a second (1)")
    replay.add_argument("--play", action="store_true", help="do not begin paused")
    _command(commands, "finish", "Pause, and show where and when a blind replay was.")
    shock = _command(
        commands, "shock", "Shock the market: move a price, halt it, or widen its spread."
    )
    kinds = ("spike", "gap", "halt", "spread", "depth", "none")
    shock.add_argument("kind", choices=kinds, help="none cancels what has not begun")
    shock.add_argument("instrument", nargs="?", help="needed for spike and gap")
    shock.add_argument(
        "--size", metavar="F", help="0.01 is one percent; a factor for spread, depth"
    )
    shock.add_argument("--seconds", type=whole_number, metavar="N", help="how long (60)")
    shock.add_argument("--at", metavar="TIME", help="when (at once)")
    faults = _command(
        commands, "faults", "Simulate faults of a broker: latency, lost answers, cut streams."
    )
    faults.add_argument("profile", help=f"{', '.join(PROFILES)}, a TOML file, or off")
    checkpoint = _command(commands, "checkpoint", "Save or restore accounts and market time.")
    checkpoint.add_argument("action", choices=("save", "restore", "list"))
    checkpoint.add_argument("name", nargs="?", default="checkpoint", help="(%(default)s)")


def _add_accounts(commands: Any) -> None:  # noqa: ANN401
    account = commands.add_parser("account", help="Add, reset, clone or fund an account.")
    actions = account.add_subparsers(dest="action", required=True, metavar="ACTION")
    words = {
        "add": "Add an account to a token.",
        "reset": "Begin an account anew under its id.",
        "clone": "Copy an account with its orders, trades and history.",
        "deposit": "Add money.",
        "withdraw": "Take money out.",
        "margin": "Set the margin rate.",
    }
    parsers = {name: _command(actions, name, words[name]) for name in _ACCOUNT_VERBS}
    for name in _ACCOUNT_VERBS[1:]:
        parsers[name].add_argument("account", help="the account's id")
    for name in ("add", "reset"):
        parsers[name].add_argument(
            "--balance", metavar="AMOUNT", help="(of the order of 100,000 dollars)"
        )
        parsers[name].add_argument("--currency", metavar="CODE", help="the home currency")
        parsers[name].add_argument("--margin-rate", metavar="F", help="0.05 is a leverage of 20")
    parsers["add"].add_argument("--hedging", action="store_true", help="long and short at once")
    parsers["add"].add_argument("--fifo", action="store_true", help="US FIFO rules")
    parsers["add"].add_argument(
        "--owner", type=whole_number, metavar="N", help="the token's number (0)"
    )
    parsers["add"].add_argument("--alias", metavar="NAME", help="its name")
    parsers["reset"].add_argument(
        "--hedging", action=argparse.BooleanOptionalAction, default=None, help="as it was"
    )
    for name in ("deposit", "withdraw"):
        parsers[name].add_argument("amount", type=_amount, help="in the home currency")
    parsers["margin"].add_argument("rate", help="0.05 is a leverage of 20")
    token = _command(commands, "token", "Add a token with two accounts of its own.")
    token.add_argument("action", choices=("add",))
    token.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help="your own token, - for stdin (default: random)",
    )


def _add_room(commands: Any) -> None:  # noqa: ANN401
    room = _command(commands, "room", "Show every account, the best result first, until Ctrl-C.")
    room.add_argument(
        "action",
        nargs="?",
        choices=("show", "pause", "play", "reset"),
        default="show",
        help="pause or play the market for all; reset begins accounts anew",
    )
    room.add_argument("accounts", nargs="*", metavar="ACCOUNT", help="to reset (all with --yes)")
    room.add_argument(
        "--balance", metavar="AMOUNT", help="of accounts that are reset (as of a new one)"
    )
    room.add_argument("--yes", action="store_true", help="reset every account without a question")
    room.add_argument("--once", action="store_true", help="print one table and end")
    room.add_argument(
        "--refresh",
        type=_refresh,
        default=REFRESH_SECONDS,
        metavar="S",
        help="seconds between two looks (%(default)g)",
    )


_REQUESTS: Mapping[str, Callable[[argparse.Namespace], Sent]] = {
    "status": lambda _: ("GET", "/state", None),
    "scenarios": lambda _: ("GET", "/scenarios", None),
    "pause": lambda _: ("POST", "/clock/pause", {}),
    "play": lambda given: ("POST", "/clock/play", _given(speed=given.speed)),
    "speed": lambda given: ("POST", "/clock/speed", {"speed": given.speed}),
    "step": lambda given: (
        "POST",
        "/clock/step",
        {"candles": given.candles, "granularity": given.granularity},
    ),
    "jump": lambda given: ("POST", "/clock/jump", {"time": given.time}),
    "replay": lambda given: ("POST", "/replay", _replay(given)),
    "finish": lambda _: ("POST", "/replay/finish", {}),
    "shock": _shock,
    "faults": _faults,
    "checkpoint": _checkpoint,
    "ledgers": ledgers_request,
    "token": lambda given: ("POST", "/tokens", _given(token=_token_from(given.token_file))),
    "account": _account,
}
COMMANDS = frozenset({*_REQUESTS, "room"})
