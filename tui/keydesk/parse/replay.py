"""Parse and complete what follows `:replay` on the command line; the keys of the replay strip mean the same commands."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from keydesk.calc.market.granularity import find_granularity
from keydesk.calc.market.market_state import ControlledMarket, speed_text
from keydesk.text.format import pair
from keydesk.text.typed import Quantity, date_time, duration_s, quantity
from keydesk_client.arithmetic.constants import SECOND

Value = str | int | float | bool

VERBS = (
    *("pause", "play", "step", "speed", "faster", "slower", "jump", "random", "blind", "start"),
    *(
        "present",
        "scenario",
        "finish",
        "shock",
        "faults",
        "deposit",
        "withdraw",
        "save",
        "restore",
        "status",
    ),
)
SHOCKS = ("spike", "gap", "halt", "spread", "depth", "none")
MOVES = frozenset(("spike", "gap"))  # of the price of an instrument
SHARE = "a fraction of the price (0.01 is 1 %)"
SHOCK_SIZES = {  # the market takes sizes between two limits
    "spike": (Decimal("-0.5"), Decimal(1), SHARE),
    "gap": (Decimal("-0.5"), Decimal(1), SHARE),
    "spread": (Decimal("0.1"), Decimal(1_000), "a factor of the spread"),
    "depth": (Decimal("0.0001"), Decimal(100), "a factor of the depth"),
}
MAX_SHOCK_SECONDS = 7 * 86_400
FAULTS = ("bad-line", "bad-day", "maintenance", "requotes", "off")
SPEEDS = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)
FASTEST = 100_000.0
HOW_FAR = ", or how far: +30m, +4h, +2d"
MAX_CANDLES = 5_000
MAX_AMOUNT = Decimal(1_000_000_000)
AMOUNT_DECIMALS = 2
NAME = re.compile(r"[a-z0-9_-][a-z0-9._-]{0,63}")
NOT_OFFERED = "replay: works only with a practice market that this desk controls; open one with keydesk --practice"
REPLAYED = "replayed"  # entries of the audit log: what was replayed


class ReplaySyntaxError(ValueError):
    """Raised for a command that cannot be read; the text names the word and the remedy."""


class ReplayCommand(Struct, frozen=True):
    """One request to the market's control interface, and what it does in words."""

    text: str
    method: Literal["", "POST", "PUT", "PATCH", "DELETE"] = ""  # "": the status is shown
    path: str = ""
    body: Mapping[str, Value] = field(default_factory=dict[str, Value])
    begins_anew: bool = False  # it replaces the ledger
    returns: bool = False  # by that of the account that was left for a replay
    finishes: bool = False
    has_answer: bool = True  # the answer is the market's state

    @property
    def account_path(self) -> bool:
        """Whether `{account}` in the path stands for the desk's account."""
        return "{account}" in self.path


STATUS = ReplayCommand("shows what the market does")
PAUSE = ReplayCommand("pauses the market", "POST", "/clock/pause")
FINISH = ReplayCommand(
    "ends the replay: pauses, and shows where and when it was",
    "POST",
    "/replay/finish",
    finishes=True,
)


def parse_replay(words: Sequence[str], market: ControlledMarket, now: float = 0.0) -> ReplayCommand:
    """Return the command; `words` follow `replay` in lower case.

    Raises:
        ReplaySyntaxError: it cannot be read.
    """
    match words:
        case []:
            return STATUS
        case [verb, *rest] if verb in _PARSERS:
            return _PARSERS[verb](rest, market, now)
        case [name] if any(each.name.lower() == name for each in market.scenarios):
            return _scenario([name], market, now)
        case [verb, *_]:
            raise ReplaySyntaxError(
                f"replay: {verb!r} is not a command; use one of {' '.join(VERBS)}"
            )
        case _:
            return STATUS


def replay_text(before: Sequence[str], market: ControlledMarket) -> Sequence[str]:
    """Return the words that may follow those after `replay`."""
    names = [each.name.lower() for each in market.scenarios]
    match before:
        case []:
            return [*VERBS, *(name for name in names if " " not in name)]
        case ["scenario"]:
            return names
        case ["shock"]:
            return SHOCKS
        case ["faults"]:
            return FAULTS
        case ["restore"]:
            return [name.lower() for name in market.checkpoints]
        case _:
            return ()


def toggled_pause(market: ControlledMarket) -> ReplayCommand:
    """Return the command that pauses a running market, or lets a paused one run on."""
    return PAUSE if market.state.running else _play([], market, 0.0)


def _pause(rest: Sequence[str], _market: ControlledMarket, _now: float) -> ReplayCommand:
    _nothing_more("pause", rest)
    return PAUSE


def _play(rest: Sequence[str], market: ControlledMarket, _now: float) -> ReplayCommand:
    if not rest:
        text = f"lets the market run on, {speed_text(market.state.speed)}"
        return ReplayCommand(text, "POST", "/clock/play")
    speed = _speed_of(rest)
    text = f"lets the market run, {speed_text(speed)}"
    return ReplayCommand(text, "POST", "/clock/play", {"speed": speed})


def _speed(rest: Sequence[str], _market: ControlledMarket, _now: float) -> ReplayCommand:
    return _at_speed(_speed_of(rest))


def _faster(rest: Sequence[str], market: ControlledMarket, _now: float) -> ReplayCommand:
    _nothing_more("faster", rest)
    return _at_speed(next((each for each in SPEEDS if each > market.state.speed), SPEEDS[-1]))


def _slower(rest: Sequence[str], market: ControlledMarket, _now: float) -> ReplayCommand:
    _nothing_more("slower", rest)
    return _at_speed(next((each for each in SPEEDS[::-1] if each < market.state.speed), SPEEDS[0]))


def _at_speed(speed: float) -> ReplayCommand:
    text = f"sets the market's speed to {speed_text(speed)}"
    return ReplayCommand(text, "POST", "/clock/speed", {"speed": speed})


def _speed_of(rest: Sequence[str]) -> float:
    typed = rest[0].removeprefix("x").removesuffix("x") if len(rest) == 1 else ""
    try:
        speed = float(typed)
    except ValueError:
        speed = 0.0
    if not 0 < speed <= FASTEST:
        raise ReplaySyntaxError(f"speed: write a number above 0, at most {FASTEST:g}, such as 60")
    return speed


def _step(rest: Sequence[str], _market: ControlledMarket, _now: float) -> ReplayCommand:
    count, granularity = 1, "M1"
    for word in rest:
        if word.isascii() and word.isdecimal():
            count = int(word[:9])
        elif found := find_granularity(word):
            granularity = found
        else:
            raise ReplaySyntaxError(
                f"step: {word!r} is neither a count nor a timeframe; write step 5 m1"
            )
    if not 1 <= count <= MAX_CANDLES:
        raise ReplaySyntaxError(f"step: write 1 to {MAX_CANDLES} candles")
    return step_of(granularity, count)


def step_of(granularity: str, count: int = 1) -> ReplayCommand:
    """Return the command that goes on by candles."""
    candles = f"{count} candles" if count > 1 else "the end of the candle"
    text = f"pauses, and goes on by {candles} of {granularity}"
    if count == 1:
        text = f"pauses, and goes on to the end of the {granularity} candle"
    body: dict[str, Value] = {"candles": count, "granularity": granularity}
    return ReplayCommand(text, "POST", "/clock/step", body)


def _jump(rest: Sequence[str], market: ControlledMarket, now: float) -> ReplayCommand:
    typed = " ".join(rest)
    seconds = duration_s(typed[1:]) if typed.startswith("+") else None
    if seconds is None:
        there = _time_of("jump", typed, HOW_FAR)
    else:
        there = _later(_date_of(market.state.now_ns(now)), seconds)
    text = f"goes on to {there:%Y-%m-%d %H:%M:%S} UTC; orders fill on the way"
    return ReplayCommand(text, "POST", "/clock/jump", {"time": _wire(there)})


def _start(rest: Sequence[str], _market: ControlledMarket, _now: float) -> ReplayCommand:
    there = _time_of("start", " ".join(rest))
    text = f"starts a replay at {there:%a %Y-%m-%d %H:%M} UTC"
    return _begin(text, {"start": _wire(there)})


def _random(rest: Sequence[str], _market: ControlledMarket, _now: float) -> ReplayCommand:
    _nothing_more("random", rest)
    return _begin("starts a replay at a random time", {"random": True})


def _present(rest: Sequence[str], market: ControlledMarket, _now: float) -> ReplayCommand:
    _nothing_more("present", rest)
    replay, body = market.state.replay, dict[str, Value](present=True)
    if replay is None:
        return ReplayCommand("goes on to the present, and runs", "POST", "/replay", body)
    if replay.home is None:
        return _begin("starts a new account at the present: none was left for this replay", body)
    return replace(_begin("goes back to your own account", body), returns=True)


def _blind(rest: Sequence[str], market: ControlledMarket, now: float) -> ReplayCommand:
    if rest:
        named = _scenario(rest, market, now)
        text = f"{named.text}, blind: instrument and date are hidden until it is ended"
        return _begin(text, {**named.body, "blind": True})
    text = (
        "starts a blind replay at a random time: instrument and date are hidden until it is ended"
    )
    return _begin(text, {"random": True, "blind": True})


def _scenario(rest: Sequence[str], market: ControlledMarket, _now: float) -> ReplayCommand:
    known = {each.name.lower(): each for each in market.scenarios}
    scenario = known.get(" ".join(rest))
    if scenario is None:
        listed = " ".join(known) or "none: the market offers no scenario"
        raise ReplaySyntaxError(f"scenario: choose one of {listed}")
    start = _date_of(scenario.start_ns)
    facts = f" ({scenario.facts})" if scenario.facts else ""
    text = f"starts a replay of {scenario.name}: {pair(scenario.instrument)}, {start:%Y-%m-%d %H:%M} UTC{facts}"
    return _begin(text, {"scenario": scenario.name})


def _begin(text: str, body: Mapping[str, Value]) -> ReplayCommand:
    return ReplayCommand(text, "POST", "/replay", body, begins_anew=True)


def _finish(rest: Sequence[str], market: ControlledMarket, _now: float) -> ReplayCommand:
    _nothing_more("finish", rest)
    if market.state.replay is None:
        raise ReplaySyntaxError(
            "finish: nothing is replayed; start one with replay random or blind"
        )
    return FINISH


def _shock(rest: Sequence[str], _market: ControlledMarket, _now: float) -> ReplayCommand:
    match rest:
        case ["none"]:
            return ReplayCommand("cancels the shocks that have not begun", "DELETE", "/shocks")
        case [kind, *more] if kind in SHOCKS and kind != "none":
            return _shock_of(kind, more)
        case _:
            raise ReplaySyntaxError(
                f"shock: write one of {' '.join(SHOCKS)}, then an instrument, a size and how long: "
                f"shock spike eurusd 1% 60s; the size of a spike or gap is {SHARE}"
            )


def _shock_of(kind: str, more: Sequence[str]) -> ReplayCommand:
    """Read `eurusd 0.01 60s` in any order."""
    body: dict[str, Value] = {"kind": kind}
    size = ""
    for word in more:
        if (seconds := duration_s(word)) is not None:
            body["seconds"] = _shock_seconds(word, seconds)
        elif (typed := quantity(word, "%", signs="-")) is not None:
            share = _shock_size(kind, word, typed)
            body["size"], size = f"{share:f}", f" by {_size_text(kind, share)}"
        elif "instrument" not in body and (name := _pair_of(word)):
            body["instrument"] = name
        else:
            raise ReplaySyntaxError(f"shock: {word!r} not understood; write shock gap eurusd -1%")
    if kind in MOVES and "instrument" not in body:
        raise ReplaySyntaxError(f"shock: a {kind} needs an instrument: shock {kind} eurusd 1%")
    of = f" of {body['instrument']}" if "instrument" in body else ""
    return ReplayCommand(f"makes a {kind}{of}{size} now", "POST", "/shocks", body)


def _pair_of(word: str) -> str:
    """Return the instrument of two currencies, such as eurusd or eur/usd, "" for any other word."""
    letters = word.replace("_", "").replace("/", "").upper()
    is_pair = len(letters) == len("EURUSD") and letters.isascii() and letters.isalpha()
    return f"{letters[:3]}_{letters[3:]}" if is_pair else ""


def _shock_size(kind: str, word: str, typed: Quantity) -> Decimal:
    """Return the size of a shock, as the market takes it."""
    if kind not in SHOCK_SIZES:
        raise ReplaySyntaxError(
            f"shock: a {kind} has no size; leave {word} out; write how long it lasts as 60s"
        )
    low, high, unit = SHOCK_SIZES[kind]
    size = typed.number / 100 if typed.unit else typed.number
    if not low <= size <= high or not size:
        zero = "" if size else f"; 0 is no {kind}"
        raise ReplaySyntaxError(
            f"shock: a {kind} cannot have the size {word}; write {low} to {high}, {unit}{zero}"
        )
    return size


def _size_text(kind: str, size: Decimal) -> str:
    if kind not in MOVES:
        return f"a factor of {size:f}"
    return f"{size:f} of the price ({_plain(size * 100)} %)"


def _plain(number: Decimal) -> str:
    """Return a number without closing zeros."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _shock_seconds(word: str, seconds: int) -> int:
    if not 1 <= seconds <= MAX_SHOCK_SECONDS:
        raise ReplaySyntaxError(
            f"shock: it cannot last {word}; write 1s to {MAX_SHOCK_SECONDS}s (7 days)"
        )
    return seconds


def _faults(rest: Sequence[str], market: ControlledMarket, _now: float) -> ReplayCommand:
    if rest == ["off"] or (not rest and market.state.faults):
        return ReplayCommand("switches all faults off", "DELETE", "/faults")
    if len(rest) == 1 and rest[0] in FAULTS:
        text = f"simulates broker faults: {rest[0]}"
        return ReplayCommand(text, "PUT", "/faults", {"name": rest[0]})
    raise ReplaySyntaxError(f"faults: write one of {' '.join(FAULTS)}")


def _deposit(rest: Sequence[str], _market: ControlledMarket, _now: float) -> ReplayCommand:
    return _transfer("deposit", rest, 1)


def _withdraw(rest: Sequence[str], _market: ControlledMarket, _now: float) -> ReplayCommand:
    return _transfer("withdraw", rest, -1)


def _transfer(verb: str, rest: Sequence[str], sign: int) -> ReplayCommand:
    typed = quantity("".join(rest).replace(",", ""), decimals=AMOUNT_DECIMALS)
    amount = typed.number if typed is not None and len(rest) == 1 else Decimal(0)
    if not 0 < amount <= MAX_AMOUNT:
        raise ReplaySyntaxError(f"{verb}: write an amount above 0, such as {verb} 5000")
    text = f"{verb}s {amount:,f} practice money"
    path, body = "/accounts/{account}/transfer", {"amount": f"{sign * amount:f}"}
    return ReplayCommand(text, "POST", path, body, has_answer=False)


def _save(rest: Sequence[str], _market: ControlledMarket, _now: float) -> ReplayCommand:
    name = rest[0] if len(rest) == 1 else "checkpoint" if not rest else ""
    if not NAME.fullmatch(name):
        raise ReplaySyntaxError("save: write one name of letters, digits, dot and hyphen")
    text = f"saves accounts and time as checkpoint {name}"
    return ReplayCommand(text, "POST", "/checkpoints", {"name": name}, has_answer=False)


def _restore(rest: Sequence[str], market: ControlledMarket, _now: float) -> ReplayCommand:
    known = {each.lower(): each for each in market.checkpoints}
    typed = rest[0] if len(rest) == 1 else "checkpoint" if not rest else ""
    if typed not in known:
        listed = " ".join(known) or "none is saved: save one first"
        raise ReplaySyntaxError(f"restore: choose one of {listed}")
    text = f"restores checkpoint {known[typed]}: accounts and time"
    path, body = "/checkpoints/restore", {"name": known[typed]}
    return ReplayCommand(text, "POST", path, body, begins_anew=True)


def _status(rest: Sequence[str], _market: ControlledMarket, _now: float) -> ReplayCommand:
    _nothing_more("status", rest)
    return STATUS


def _nothing_more(verb: str, rest: Sequence[str]) -> None:
    if rest:
        raise ReplaySyntaxError(f"{verb}: {' '.join(rest)!r} is not expected; write {verb} alone")


def _time_of(verb: str, typed: str, more: str = "") -> datetime:
    there = date_time(typed.removesuffix("z"))
    if there is None:
        raise ReplaySyntaxError(f"{verb}: write a time of UTC such as 2015-01-15 09:29{more}")
    return there.replace(tzinfo=UTC)


def _later(now: datetime, seconds: int) -> datetime:
    try:
        return now + timedelta(seconds=seconds)
    except OverflowError as error:
        raise ReplaySyntaxError(
            f"jump: write a time of UTC such as 2015-01-15 09:29{HOW_FAR}"
        ) from error


def _date_of(time_ns: int) -> datetime:
    return datetime.fromtimestamp(time_ns // SECOND, UTC)


def _wire(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


_PARSERS: Mapping[str, Callable[[Sequence[str], ControlledMarket, float], ReplayCommand]] = {
    "pause": _pause,
    "play": _play,
    "speed": _speed,
    "faster": _faster,
    "slower": _slower,
    "step": _step,
    "jump": _jump,
    "start": _start,
    "random": _random,
    "present": _present,
    "blind": _blind,
    "scenario": _scenario,
    "finish": _finish,
    "shock": _shock,
    "faults": _faults,
    "deposit": _deposit,
    "withdraw": _withdraw,
    "save": _save,
    "restore": _restore,
    "status": _status,
}
