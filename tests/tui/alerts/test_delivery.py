"""Delivery: bell, notification and command by kind; hostile text stays text everywhere."""

import asyncio
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path

import pytest

from keydesk.alerts.delivery import Delivery, Event, EventSources, alert_text, kind_of
from keydesk.alerts.notify_command import AT_ONCE, MAX_WAITING, CommandRunner, arguments
from keydesk.calc.alerts.alert import FiringRecord
from keydesk.config.settings import load_alert_settings
from keydesk.settings.toml_text import BadSettings
from keydesk.settings.values import AlertSettings
from keydesk.store.state import Health
from keydesk.store.store import Store
from keydesk.terminal.notification import notification, usual_kind
from support.data.account_history import fill, transaction
from support.terminal_bytes import foreign_pieces

HOSTILE = "-x\x1b]0;owned\x07;\x1b\\$(touch /tmp/x)`id`\n\u202eevil\x9b31m"
TEN = 1_772_445_600_000_000_000
PYTHON = sys.executable


@dataclass
class Terminal:
    """What a delivery wrote, flashed and ran."""

    settings: AlertSettings = field(default_factory=AlertSettings)
    environment: Mapping[str, str] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)
    flashed: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    now: float = 100.0

    def delivery(self) -> Delivery:
        commands = CommandRunner(
            self.settings.notify, self.settings.notify_timeout, self.said.append
        )
        return Delivery(
            self.settings,
            self.written.append,
            self.environment,
            commands,
            self.flashed.append,
            now=lambda: self.now,
        )


def event(text: str = "ALERT 10:00:00 EUR/USD", kind: str = "alert") -> Event:
    return Event(kind, text, TEN, "main")  # type: ignore[arg-type]


def test_a_notification_of_any_text_is_one_sequence_of_visible_characters() -> None:
    sent = notification(HOSTILE, HOSTILE, ("777",), {})
    assert list(foreign_pieces(sent.encode())) == []
    assert list(foreign_pieces(sent.replace("]777;notify;", "]777;notify;\u202e").encode())) != []


def test_a_kind_is_delivered_by_its_channels_only() -> None:
    settings = AlertSettings(kinds={"alert": ("flash", "bell"), "fill": ("desktop",)})
    terminal = Terminal(settings)
    delivery = terminal.delivery()
    delivery.deliver(event())
    delivery.deliver(event(kind="fill"))
    delivery.deliver(event(kind="stop"))
    assert terminal.flashed == ["alert"]
    assert terminal.written[0] == "\x07"
    assert [each[:6] for each in terminal.written[1:]] == ["\x1b]777;"]


def test_the_bell_rings_at_most_once_in_two_seconds() -> None:
    terminal = Terminal()
    delivery = terminal.delivery()
    for now in (0.0, 0.1, 1.9, 2.0, 3.9, 4.0):
        terminal.now = now
        delivery.ring()
    assert terminal.written == ["\x07"] * 3


def test_muted_neither_rings_nor_notifies_and_still_flashes() -> None:
    terminal = Terminal()
    delivery = terminal.delivery()
    delivery.muted = True
    delivery.deliver(event())
    assert (terminal.written, terminal.flashed) == ([], ["alert"])


@pytest.mark.parametrize(
    ("environment", "kind"),
    [
        ({"TERM": "xterm-kitty"}, "99"),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, "99"),
        ({"TERM": "foot"}, "777"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, "9"),
        ({"TERM": "xterm-256color", "LC_TERMINAL": "iTerm2"}, "9"),
        ({"TERM": "tmux-256color"}, "777"),
        ({}, "777"),
    ],
)
def test_the_sequence_is_the_one_that_the_terminal_knows(
    environment: dict[str, str], kind: str
) -> None:
    assert usual_kind(environment) == kind


def test_each_sequence_as_it_is_written() -> None:
    assert notification("A;B", "text", ["777"], {}) == "\x1b]777;notify;A,B;text\x07"
    assert notification("A", "4;1;50", ["9"], {}) == "\x1b]9;Keydesk: A: 4;1;50\x07"
    both = notification("A", "text", ["99"], {})
    assert both == "\x1b]99;i=keydesk:d=0:p=title;A\x07\x1b]99;i=keydesk:d=1:p=body;text\x07"


def test_tmux_and_screen_pass_a_wrapped_sequence_on() -> None:
    inner = "\x1b]9;Keydesk: A: text\x07"
    doubled = inner.replace("\x1b", "\x1b\x1b")
    assert notification("A", "text", ["9"], {"TMUX": "socket,1,0"}) == f"\x1bPtmux;{doubled}\x1b\\"
    assert notification("A", "text", ["9"], {"STY": "1.x"}) == f"\x1bP{inner}\x1b\\"


@pytest.mark.parametrize("environment", [{}, {"TMUX": "x"}, {"STY": "x"}])
def test_hostile_text_ends_no_sequence_and_begins_none(environment: dict[str, str]) -> None:
    made = notification(HOSTILE, HOSTILE * 3, ["777", "9", "99"], environment)
    plain = notification("A", "B", ["777", "9", "99"], environment)
    for control in ("\x1b", "\x07", "\x9b", "\n", "\u202e"):
        assert made.count(control) == plain.count(control)


def test_hostile_text_is_one_argument_and_never_an_option_or_a_place() -> None:
    said = {"title": "ALERT main", "text": HOSTILE + " {title}"}
    made = arguments(["prog", "{title}", "{text}", "--body={text}", "plain"], said)
    assert len(made) == 5
    assert made[1] == "ALERT main"
    assert made[2].startswith(" -x")
    assert "{title}" in made[2]
    assert made[3].startswith("--body=-x")
    assert not any(control in "".join(made) for control in ("\x1b", "\x07", "\n", "\0"))


async def test_the_command_gets_arguments_and_json_and_no_shell(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    program = (
        "import json, sys; json.dump([sys.argv[2:], json.load(sys.stdin)], open(sys.argv[1], 'w'))"
    )
    notify = (PYTHON, "-c", program, str(out), "{text}", "; touch shell")
    terminal = Terminal(AlertSettings(notify=notify))
    delivery = terminal.delivery()
    delivery.deliver(event(f"ALERT {HOSTILE}"))
    await delivery.commands.finish()
    words, said = json.loads(out.read_text(encoding="utf-8"))
    assert words[0].startswith("ALERT -x")
    assert words[1] == "; touch shell"
    assert (said["kind"], said["account"], said["time_ns"]) == ("alert", "main", TEN)
    assert "\x1b" not in said["text"]
    assert terminal.said == []


@pytest.mark.e2e
async def test_a_command_that_hangs_is_killed_with_what_it_started() -> None:
    said: list[str] = []
    program = "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); time.sleep(600)"
    runner = CommandRunner((PYTHON, "-c", program), 0.3, said.append)
    runner.run({"title": "A", "text": "B"})
    await runner.finish()
    assert "took longer than 0.3 s" in said[0]


@pytest.mark.parametrize(
    ("notify", "text"),
    [
        (("/no/such/program",), "cannot be started"),
        ((PYTHON, "-c", "raise SystemExit(3)"), "exited with status 3"),
    ],
)
async def test_a_command_that_fails_is_said_once_a_minute(
    notify: tuple[str, ...], text: str
) -> None:
    said: list[str] = []
    runner = CommandRunner(notify, 20, said.append)
    for _ in range(3):
        runner.run({"title": "A", "text": "B"})
    await runner.finish()
    assert len(said) == 1
    assert text in said[0]


@pytest.mark.e2e
async def test_a_flood_of_events_starts_a_bounded_number_of_commands() -> None:
    said: list[str] = []
    runner = CommandRunner((PYTHON, "-c", "import time; time.sleep(600)"), 0.2, said.append)
    for _ in range(100):
        runner.run({"title": "A", "text": "B"})
    assert runner.dropped == 100 - AT_ONCE - MAX_WAITING
    assert "too slow" in said[0]
    await asyncio.sleep(0)
    await runner.finish()


def test_the_line_of_a_firing_begins_with_a_word_of_ours() -> None:
    told = FiringRecord("1", 1, TEN, "-evil mid crosses up 1.1", "1.1002")
    assert alert_text(told, UTC) == "ALERT 10:00:00 -evil mid crosses up 1.1 (at 1.1002)"
    late = FiringRecord("1", 1, TEN, "EUR/USD", late=True)
    assert alert_text(late, UTC) == "ALERT while you were away, 2026-03-02 10:00:00 UTC: EUR/USD"


# Events of the account.


def test_transactions_are_told_by_kind() -> None:
    assert kind_of(fill(1)) == "fill"
    assert kind_of(fill(1, reason="STOP_LOSS_ORDER")) == "stop"
    assert kind_of(fill(1, reason="MARKET_ORDER_MARGIN_CLOSEOUT")) == "margin"
    assert kind_of(transaction(1, "MARGIN_CALL_ENTER")) == "margin"
    rejected = {"rejectReason": "INSUFFICIENT_MARGIN", "instrument": "EUR_USD", "units": "1"}
    assert kind_of(transaction(1, "MARKET_ORDER_REJECT", **rejected)) == "reject"
    assert kind_of(transaction(1, "CLIENT_CONFIGURE")) is None


def test_an_old_transaction_rings_nothing() -> None:
    told: list[Event] = []
    sources = EventSources(Store(), "main", told.append)
    made = fill(1)
    sources.store.clock_ns = made.time.ns + 1
    sources.on_transaction(made)
    sources.store.clock_ns = made.time.ns + 61_000_000_000
    sources.on_transaction(made)
    assert [each.kind for each in told] == ["fill"]


def test_a_lost_connection_is_told_once_and_so_is_its_return() -> None:
    told: list[Event] = []
    store = Store()
    store.health = Health(prices="OK", events="OK")
    sources = EventSources(store, "main", told.append)
    for now, state in enumerate(("OK", "STALE", "DOWN", "CONNECTING", "OK", "OK", "DOWN")):
        store.health.prices = state  # type: ignore[assignment]
        sources.check(float(now))
    assert [(each.kind, each.name, each.text) for each in told] == [
        ("disconnect", "", "The stream of prices is stale"),
        ("disconnect", "reconnect", "Prices and transactions are back after 3s"),
        ("disconnect", "", "The stream of prices is down"),
    ]


@pytest.mark.parametrize("first", ["prices", "events"])
def test_the_connection_is_back_when_both_streams_are(first: str) -> None:
    told: list[Event] = []
    store = Store()
    store.health = Health(prices="DOWN", events="DOWN")
    sources = EventSources(store, "main", told.append)
    sources.check(0.0)
    setattr(store.health, first, "OK")
    sources.check(1.0)
    assert [each.name for each in told] == [""]
    store.health = Health(prices="OK", events="SLOW")
    sources.check(2.0)
    assert [each.name for each in told] == ["", "reconnect"]


# Settings.


def settings_of(tmp_path: Path, text: str) -> AlertSettings:
    (tmp_path / "config.toml").write_text(text, encoding="utf-8")
    return load_alert_settings(tmp_path)


def test_the_settings_say_what_each_kind_does(tmp_path: Path) -> None:
    assert load_alert_settings(tmp_path) == AlertSettings()
    found = settings_of(
        tmp_path,
        '[alerts]\nnotify = ["notify-send", "{text}"]\nnotify_timeout = 5\ndesktop = ["9", "777"]\n'
        '[alerts.kinds]\nfill = []\nalert = ["bell"]\n',
    )
    assert found.notify == ("notify-send", "{text}")
    assert found.desktop == ("777", "9")
    assert not found.has("fill", "bell")
    assert found.has("alert", "bell")
    assert not found.has("alert", "flash")
    assert found.has("stop", "desktop")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("alerts = 5", "alerts must be a table"),
        ("[alerts]\nbell = true", "alerts.bell is not known"),
        ('[alerts]\nnotify = "notify-send x"', "a shell line is not run"),
        ('[alerts]\nnotify = [""]', "names no program"),
        ("[alerts]\nnotify = [5]", "a list of texts"),
        ("[alerts]\nnotify_timeout = 0", "from 1 to 60"),
        ('[alerts]\ndesktop = ["8"]', '"777", "9", "99"'),
        ("[alerts.kinds]\nfil = []", "alerts.kinds.fil is not known; did you mean fill?"),
        ('[alerts.kinds]\nfill = ["horn"]', 'a list of "flash", "bell"'),
    ],
)
def test_a_wrong_setting_is_named_with_the_remedy(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(BadSettings, match=words.replace("[", r"\[")):
        settings_of(tmp_path, text)
