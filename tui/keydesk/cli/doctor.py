"""`keydesk doctor` and `keydesk reset-terminal`: check machine, terminal and broker; repair a terminal."""

import asyncio
import os
import platform
import re
import shutil
import sys
import tempfile
import termios
from argparse import Namespace
from collections.abc import AsyncIterator, Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import monotonic, time_ns
from typing import Literal

from msgspec import Struct

import keydesk
from keydesk.app.account_sources import AccountAddress
from keydesk.cli.account_access import OpenAccount, open_account
from keydesk.cli.script_output import Document, Refusal, print_document
from keydesk.cli.token_access import VAULT
from keydesk.config.folders import Folders, UnsafeFolder, find_folders, make_private
from keydesk.config.own_themes import load_own_themes
from keydesk.config.settings import load_settings
from keydesk.settings.toml_text import BadSettings
from keydesk.terminal.check import TerminalCheck, TerminalFacts, ascii_locale, unusable
from keydesk.terminal.output import print_error, print_lines
from keydesk.terminal.query import colour_depth
from keydesk.terminal.reset import reset
from keydesk.text.file_errors import file_trouble
from keydesk.text.sanitize import Printable, clean, safe
from keydesk_client.arithmetic.constants import SECOND
from keydesk_client.errors import KeydeskClientError

Verdict = Literal["ok", "warn", "bad"]
SMALLEST, SMALLEST_EXITS = (80, 24), (40, 12)
NO_JOURNAL = "without its journal no order is sent"
MEGABYTE = 1_000_000
PLENTY, TOO_LITTLE = 100 * MEGABYTE, 5 * MEGABYTE
ASKED = 5  # times
SLOW_MS = 400.0
OFF_SECONDS = 2.0
MARKS = {"ok": "ok  ", "warn": "WARN", "bad": "BAD "}
SENTENCE = 500  # characters
STREAM_SECONDS = 10.0
LIBRARIES = ("textual", "httpx", "httpcore", "pydantic", "keyring")
ACCOUNT_ID = re.compile(r"\b\d{3}-\d{3}-\d+-\d{3}\b")


class Check(Struct, frozen=True):
    """The result of one check, with the remedy if something is wrong."""

    name: str
    verdict: Verdict
    text: str


class ShownCheck(Struct, frozen=True):
    """One check of the machine or the broker."""

    name: str
    verdict: Literal["ok", "warn", "bad"]
    words: str


class DoctorDocument(Document, frozen=True, tag="doctor"):
    """`keydesk doctor --json`."""

    ok: bool
    checks: list[ShownCheck]


def check_versions() -> Check:
    """Return the versions of this program, of Python, the system, and the libraries that draw and send."""
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    system = f"{platform.system()} {platform.release()}"
    return Check(
        "versions",
        "ok",
        f"keydesk {keydesk.__version__}, Python {platform.python_version()}, {system}; {libraries}",
    )


def check_paths(folders: Folders) -> Check:
    """Return where settings and journals are kept."""
    return Check("paths", "ok", f"settings in {folders.config}, journals in {folders.state}")


def check_terminal(size: os.terminal_size | None, environment: Mapping[str, str]) -> Check:
    """Check the terminal; `size` is None without one."""
    if size is None:
        return Check("terminal", "warn", "none here: the desk needs one; over SSH ask with ssh -t")
    shown = f"{size.columns}x{size.lines}, TERM={environment.get('TERM') or 'not set'}"
    if why := unusable(environment):
        return Check("terminal", "bad", why)
    if size.columns < SMALLEST_EXITS[0] or size.lines < SMALLEST_EXITS[1]:
        return Check("terminal", "bad", f"{shown}: the desk needs 80x24 or more, 40x12 for exits")
    if size.columns < SMALLEST[0] or size.lines < SMALLEST[1]:
        return Check("terminal", "warn", f"{shown}: exits only; 80x24 or more opens trades")
    return Check("terminal", "ok", shown)


def check_colours(environment: Mapping[str, str]) -> Check:
    """Check the number of colours that the terminal reports."""
    depth = colour_depth(environment)
    if depth == "mono":
        return Check("colours", "warn", "none: the desk uses bold, underline and words instead")
    hint = "" if depth == "truecolor" else "; if it has more, set COLORTERM=truecolor"
    return Check("colours", "ok", f"{depth}{hint}")


def check_locale(environment: Mapping[str, str], measured: str = "") -> Check:
    """Check that lines and arrows can be drawn, by locale and terminal replies."""
    asks_for_ascii = ascii_locale(environment)
    if measured and not asks_for_ascii:
        return Check("locale", "warn", f"the desk draws in ASCII: {measured}")
    if not asks_for_ascii:
        return Check("locale", "ok", "UTF-8; where lines and arrows come out wrong: --ascii")
    text = f"{asks_for_ascii}: the desk draws in ASCII; for lines and arrows use a UTF-8 locale"
    return Check("locale", "warn", f"{text}, such as LC_ALL=C.UTF-8")


def check_settings(folders: Folders) -> Check:
    """Check every file of settings, as the desk reads them."""
    from keydesk.config.settings_files import FILES  # noqa: PLC0415 - loads the grammars of what is typed

    for file in FILES.values():
        if why := file.trouble(folders.config):
            return Check("settings", "bad", why)
    settings, own = load_settings(folders.config), load_own_themes(folders.config)
    if why := own.trouble_with(settings.theme, folders.config):
        return Check("settings", "bad", why)
    if why := next(iter(own.troubles.values()), ""):
        return Check("settings", "warn", why)
    known = ", ".join(sorted(settings.profiles)) or "none, the practice market needs none"
    themes = f"; themes of your own: {', '.join(own.themes)}" if own.themes else ""
    return Check("settings", "ok", f"profiles: {known}{themes}")


def check_disk(folders: Folders) -> Check:
    """Check that the order journal can be written."""
    try:
        folder = make_private(folders.state)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"journal")
            file.flush()
            os.fsync(file.fileno())
        free = shutil.disk_usage(folder).free
    except UnsafeFolder as error:
        return Check("disk", "bad", f"{error}; {NO_JOURNAL}")
    except OSError as error:  # it names the temporary file
        trouble = file_trouble(OSError(error.errno, error.strerror), folders.state)
        return Check("disk", "bad", f"{trouble}; {NO_JOURNAL}")
    text = f"{free // MEGABYTE:,} MB free in {folder}"
    if free < TOO_LITTLE:
        return Check("disk", "bad", f"{text}: too little for the order journal")
    return Check("disk", "ok" if free >= PLENTY else "warn", text)


def check_token_store(folders: Folders) -> Check:
    """Check where a token would be stored on this machine."""
    from keydesk_client.auth.token_store import unlocked_native_store  # noqa: PLC0415 - 60 ms

    native = unlocked_native_store()
    if native is not None:
        return Check("tokens", "ok", f"the desktop's own store: {type(native).__module__}")
    vault: Path = folders.state / "tokens" / VAULT
    there = "there already" if vault.exists() else "made at the first login"
    return Check("tokens", "ok", f"no unlocked desktop store; the encrypted vault, {there}")


def check_proxy(account: AccountAddress) -> Check:
    """Return which proxy leads to the broker, without its password."""
    from keydesk_client.http.endpoint import address_of, proxy_to  # noqa: PLC0415 - after the checks that need no network

    ways: list[str] = []
    for url in dict.fromkeys((account.rest_url, account.stream_url)):
        address = address_of(url)
        proxy = proxy_to(address, account.proxy)
        via = f"through {proxy.url} ({proxy.named_by})" if proxy else "directly, without a proxy"
        ways.append(f"{address.shown} {via}")
    return Check("proxy", "ok", "; ".join(ways))


async def broker(options: Namespace) -> list[Check]:
    """Check the account that the options select."""
    checks: list[Check] = []
    try:
        async with open_account(options) as account:
            checks += [check async for check in _check_account(account)]
    except (Refusal, BadSettings, UnsafeFolder, KeydeskClientError, OSError) as why:
        checks.append(Check("broker", "bad", str(why)))
    return checks


async def _check_account(account: OpenAccount) -> AsyncIterator[Check]:
    yield check_proxy(account.target)
    summary = (await account.client.accounts.summary()).account
    yield Check("broker", "ok", f"{account.name}, {summary.currency}, answers")
    yield round_trip([await _milliseconds(account) for _ in range(ASKED)])
    began = time_ns()
    there = (await account.client.pricing.get(["EUR_USD"])).time.ns
    yield clock(there, (began + time_ns()) // 2, own_broker=account.target.own_broker)
    yield await check_stream(account)


async def check_stream(account: OpenAccount) -> Check:
    """Check that the price stream opens and says something."""
    began = monotonic()
    try:
        async with (
            asyncio.timeout(STREAM_SECONDS),
            account.client.pricing.stream(["EUR_USD"]) as prices,
        ):
            async for _ in prices:
                break
    except (TimeoutError, KeydeskClientError) as error:
        why = f"nothing within {STREAM_SECONDS:.0f} s" if isinstance(error, TimeoutError) else error
        return Check("stream", "bad", f"prices do not come: {why}; a proxy may hold them back")
    return Check("stream", "ok", f"prices come, the first after {monotonic() - began:.1f} s")


async def _milliseconds(account: OpenAccount) -> float:
    began = monotonic()
    await account.client.accounts.summary()
    return (monotonic() - began) * 1000


def round_trip(milliseconds: list[float]) -> Check:
    """Check the round-trip time."""
    middle, longest = median(milliseconds), max(milliseconds)
    text = f"{middle:.0f} ms, at most {longest:.0f} ms of {len(milliseconds)}"
    if middle > SLOW_MS:
        return Check("round trip", "warn", f"{text}: slow; orders will take that long")
    return Check("round trip", "ok", text)


def clock(there_ns: int, here_ns: int, *, own_broker: bool) -> Check:
    """Check the broker's clock; that of a practice market may be in another year."""
    ahead = round((here_ns - there_ns) / SECOND, 1) + 0.0  # no minus before nothing
    if abs(ahead) <= OFF_SECONDS:
        return Check("clock", "ok", f"{ahead:+.1f} s against the broker's")
    if own_broker:
        return Check("clock", "ok", "the practice market keeps a time of its own")
    text = f"{ahead:+.1f} s against the broker's: set this machine's clock (NTP)"
    return Check("clock", "bad", text)


def doctor(options: Namespace) -> int:
    """Run all checks and print them; return 1 if one is bad."""
    checks = _checks(options)
    fit = all(check.verdict != "bad" for check in checks)
    if options.json:
        shown = [ShownCheck(each.name, each.verdict, each.text) for each in checks]
        print_document(DoctorDocument(fit, shown))
    else:
        print_lines(*lines_of(checks))
    if options.report is not None:
        write_report(options.report, checks)
    return 0 if fit else 1


def lines_of(checks: Iterable[Check]) -> list[Printable]:
    """Return a line for each check."""
    return [
        safe(f"{MARKS[check.verdict]} {check.name:<10} {clean(check.text, SENTENCE)}")
        for check in checks
    ]


def write_report(path: Path, checks: Iterable[Check]) -> None:
    """Write the checks to a new file, without account numbers and the name of the home folder, and say so.

    Raises:
        Refusal: there is such a file already.
    """
    text = "".join(f"{line}\n" for line in lines_of(checks))
    text = ACCOUNT_ID.sub("(account)", text).replace(str(Path.home()), "~")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise Refusal(f"{path} is there already: choose another name", "local") from None
    print_error(safe(f"Written: {clean(str(path))}; look at it before you pass it on"))


def _checks(options: Namespace) -> list[Check]:
    folders = find_folders(options.data, os.environ)
    terminal = _terminal_facts()
    return [
        check_versions(),
        check_paths(folders),
        check_terminal(_terminal_size(), os.environ),
        *[Check("keys", "warn", warning) for warning in terminal.warnings],
        check_colours(os.environ),
        check_locale(os.environ, terminal.ascii_because),
        check_token_store(folders),
        check_settings(folders),
        check_disk(folders),
        *asyncio.run(broker(options)),
    ]


def _terminal_facts() -> TerminalFacts:
    """Query the terminal, if there is an interactive one."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or unusable(os.environ):
        return TerminalFacts()
    return TerminalCheck(os.environ).facts()


def _terminal_size() -> os.terminal_size | None:
    try:
        return os.get_terminal_size(sys.stdin.fileno())
    except OSError:
        return None


def reset_terminal(_: Namespace) -> int:
    """Reset the terminal; return the exit code."""
    try:
        reset(os.environ.get("TERM", ""))
    except termios.error:
        raise Refusal("standard input is not a terminal, so there is nothing to reset") from None
    print_lines("The terminal is reset.")
    return 0
