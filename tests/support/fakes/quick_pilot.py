"""A pilot that waits for the app's own work, where Textual's waits until the process has been idle for 20 milliseconds.

class FormApp(QuickTests[None]): ...

async with app.run_test() as pilot:      # as with any app
    await pilot.press("s", "2", "0")     # returns when all messages are handled and the screen is drawn

Nothing here depends on the machine's speed. What comes from a timer, a thread or a socket is not waited for: a test that
needs it waits for its result.
"""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, ClassVar

from textual.app import App, ReturnType
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation
from textual.events import Callback, Key
from textual.keys import (  # as Textual's own pilot makes its key events
    REPLACED_KEYS,
    _character_to_key,
    _get_unicode_name_from_key,
)
from textual.message import Message
from textual.pilot import Pilot

from keydesk.terminal._textual_private import LateTimers
from support.resizing import laid_out

QUIET = 8  # turns of the loop: more than a task needs from one message to the next
ROUNDS = 500  # an app that is not settled after so many sends messages for ever


class QuickPilot(Pilot[ReturnType]):
    """Presses keys and waits until every widget has handled every message."""

    def __init__(self, app: App[ReturnType]) -> None:
        super().__init__(app)
        self._handled = 0

    def count(self, message: Message) -> None:
        """Count a message that a widget handles, but for the pilot's own."""
        if not (isinstance(message, Callback) and _is_of_pilot(message)):
            self._handled += 1

    async def press(self, *keys: str) -> None:
        """Press the keys, each when the app has done what the one before asked for."""
        for key in keys:
            self.app.post_message(key_event(key))
            await self._quiet_turns()
            await self.app.animator.wait_until_complete()
            await self._settled()

    async def pause(self, delay: float | None = None) -> None:
        """Wait until all messages are handled and the screen is drawn; with a delay, as Textual's pilot."""
        if delay is None:
            await self._settled()
        else:
            await super().pause(delay)

    async def resize_terminal(self, width: int, height: int) -> None:
        """Change the size, and wait until the screens in sight are laid out for it."""
        await super().resize_terminal(width, height)
        await laid_out(self, width, height)
        await self.pause()

    async def _settled(self) -> None:
        """Let each widget handle what it has and draw the screen, until that brings no further message."""
        for _ in range(ROUNDS):
            await self._quiet_turns()
            before = self._handled
            await super().pause(0)
            if self._handled == before and not self._is_anything_queued():
                return
        raise AssertionError(f"{self.app} still sends messages after {ROUNDS} rounds")

    def _is_anything_queued(self) -> bool:
        pumps = (self.app, *self.app.screen.walk_children(with_self=True))
        return any(pump.message_queue_size for pump in pumps)

    async def _quiet_turns(self) -> None:
        quiet = 0
        while quiet < QUIET:
            before = self._handled
            await asyncio.sleep(0)
            quiet = quiet + 1 if self._handled == before else 0


class ParsedOnce(Stylesheet):
    """A stylesheet that keeps what it parsed for the next app: parsing the same styles was a third of each start.

    Fall-back where Textual parses by another method: each app parses its own.
    """

    _by_variables: ClassVar[dict[frozenset[tuple[str, str]], dict[object, list[RuleSet]]]] = {}
    _parsed: dict[object, list[RuleSet]]

    def parse(self) -> None:
        """Parse the sources that were not parsed with these variables before."""
        variables = frozenset(self._variables.items())
        self._parsed = self._by_variables.setdefault(variables, {})
        super().parse()

    def reparse(self) -> None:
        """Parse the sources with the present variables."""
        self.parse()

    def _parse_rules(
        self,
        css: str,
        read_from: CSSLocation,
        is_default_rules: bool = False,
        tie_breaker: int = 0,
        scope: str = "",
    ) -> list[RuleSet]:
        source = (css, read_from, is_default_rules, tie_breaker, scope)
        if source not in self._parsed:
            self._parsed[source] = super()._parse_rules(*source)
        return self._parsed[source]


class QuickTests(LateTimers, App[ReturnType]):
    """An app whose tests get the quick pilot."""

    _colours: ClassVar[dict[str, dict[str, str]]] = {}  # by theme

    def __init__(self) -> None:
        super().__init__()
        self.stylesheet = ParsedOnce(variables=self.get_css_variables())

    def get_css_variables(self) -> dict[str, str]:
        """Return the colours of the theme, computed once for all apps: each asks three times, a tenth of its start."""
        theme = repr(self.current_theme)
        if theme not in self._colours:
            self._colours[theme] = super().get_css_variables()
        self.theme_variables = self._colours[theme].copy()
        return self.theme_variables

    @asynccontextmanager
    async def run_test(
        self,
        *,
        message_hook: Callable[[Message], None] | None = None,
        **options: Any,  # noqa: ANN401 - Textual's own
    ) -> AsyncGenerator[Pilot[ReturnType], None]:
        """Run the app as Textual does, with a pilot that does not wait for an idle process."""
        pilot = QuickPilot(self)

        def hook(message: Message) -> None:
            pilot.count(message)
            if message_hook is not None:
                message_hook(message)

        async with super().run_test(message_hook=hook, **options):
            yield pilot


def key_event(key: str) -> Key:
    """Return the event that Textual's pilot makes of the name of a key or of a character."""
    name = _character_to_key(key) if len(key) == 1 and not key.isalnum() else key
    try:
        unicode_name = _get_unicode_name_from_key(REPLACED_KEYS.get(name, name))
        return Key(name, unicodedata.lookup(unicode_name))
    except KeyError:
        return Key(name, name if len(name) == 1 else None)


def _is_of_pilot(message: Callback) -> bool:
    callback = message.callback
    called = callback.func if isinstance(callback, partial) else callback
    return getattr(called, "__module__", "") == Pilot.__module__
