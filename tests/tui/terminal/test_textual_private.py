"""The installed Textual has every private name that the desk uses, and the desk lives without most of them."""

import ast
import asyncio
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from io import StringIO
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import RenderableType
from rich.segment import Segment
from textual import _time, _xterm_parser
from textual._compositor import ChopsUpdate
from textual._parser import Parser
from textual._styles_cache import StylesCache
from textual.app import App
from textual.drivers._writer_thread import WriterThread
from textual.drivers.linux_driver import LinuxDriver
from textual.geometry import Size
from textual.screen import Screen
from textual.strip import Strip

import keydesk
from keydesk.terminal import _textual_private as private
from keydesk.widgets.terminal_app import TerminalApp

SOURCE = Path(keydesk.__file__).parent
ONE_MODULE = SOURCE / "terminal" / "_textual_private.py"
# Attribute of an object of the installed Textual, by the function here that reads it.
ATTRIBUTES = (
    "_batch_count",
    "_close_messages_no_wait",
    "_disable_notifications",
    "_disable_tooltips",
    "_display",
    "_driver",
    "_exit_renderables",
    "_fatal_error",
    "_handle_exception",
)

OF_A_SCREEN = (
    "_compositor",
    "_compositor_refresh",
    "_exchange_repaint_regions",
    "_refresh_layout",
    "_repaint_required",
)


def missing_attributes(app: App[Any]) -> list[str]:
    """Name every private attribute that this Textual does not have."""
    names = [name for name in ATTRIBUTES if not hasattr(app, name)]
    parser = _xterm_parser.XTermParser()
    names += [name for name in ("_awaiting", "_timeout_time") if not hasattr(parser, name)]
    names += [name for name in OF_A_SCREEN if not hasattr(app.screen, name)]
    compositor_names = ("_dirty_regions", "_render_chops")
    names += [name for name in compositor_names if not hasattr(app.screen._compositor, name)]
    names += [] if hasattr(StylesCache.get_inner_outer, "cache_clear") else ["cache_clear"]
    return names


def test_the_installed_textual_has_what_the_desk_needs_for_safety() -> None:
    private.check_textual()


async def test_the_installed_textual_has_every_attribute_and_its_loss_would_be_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = TerminalApp[None]()
    async with app.run_test():
        assert missing_attributes(app) == []
        with monkeypatch.context() as without:
            without.delattr(App, "_handle_exception")
            without.delattr(StylesCache, "get_inner_outer")
            without.setattr(StylesCache, "get_inner_outer", None, raising=False)
            assert set(missing_attributes(app)) == {"_handle_exception", "cache_clear"}


class StandingStill:
    """A clock of a process that gets no processor for a second after the first look at it."""

    looks = 0

    def __call__(self) -> float:
        self.looks += 1
        return monotonic() + (self.looks > 1)


@pytest.mark.parametrize("of", [lambda app: app, lambda app: app.screen], ids=["app", "screen"])
async def test_a_timer_that_comes_once_comes_although_the_process_stood_still_as_it_began(
    of: Callable[[App[None]], App[None] | Screen[None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    came = asyncio.Event()

    class HookedApp(TerminalApp[None]):
        def get_default_screen(self) -> Screen[None]:
            return private.ScreenHooks[None]()

    app = HookedApp()
    async with app.run_test() as pilot:
        await pilot.pause()
        monkeypatch.setattr(_time, "get_time", StandingStill())
        timer = of(app).set_timer(1 / 120, came.set)
        assert timer._skip is False
        async with asyncio.timeout(30):
            await came.wait()


async def test_the_installed_driver_and_its_writer_have_their_attributes() -> None:
    driver = LinuxDriver(TerminalApp[None]())
    assert not private.is_started(driver)
    writer = WriterThread(StringIO())  # not started
    writer.write("x")
    driver._writer_thread = writer
    assert private.is_started(driver)
    assert private.queued_writes(driver) == 1
    assert private.queued_writes(None) == 0


async def test_the_installed_updates_have_the_shape_that_is_read() -> None:
    updates: list[object] = []

    class RecordingApp(TerminalApp[None]):
        def screen_update(self, update: RenderableType | None) -> RenderableType | None:
            updates.append(update)
            return None

    app = RecordingApp()
    async with app.run_test() as pilot:
        app.screen.refresh()
        await pilot.pause()
        assert [strip.text for strip in private.lines_of_screen(app.screen, Size(5, 1), {0})]
    drawn = [update for update in updates if update is not None]
    assert drawn
    for update in drawn:
        assert private.is_screen_update(update)
        assert private.pieces_of(update) is not None


@pytest.mark.parametrize("row", [-1, 1, 24])
def test_what_was_drawn_outside_the_screen_is_left_out(row: int) -> None:
    update = ChopsUpdate([{0: Strip([Segment("ab")])}], [(row, 0, 2), (0, 0, 2)], [[2]])
    assert private.pieces_of(update) == [(0, 0, Strip([Segment("ab")]))]


@pytest.mark.parametrize("name", ["_fatal_error"])
def test_without_an_attribute_that_safety_needs_the_desk_does_not_start(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(App, name)
    with monkeypatch.context() as hooks:
        hooks.delattr(private.TextualHooks, name)
        with pytest.raises(
            private.UnsupportedTextual, match=r"App\._fatal_error.*textual>=8\.2,<9"
        ):
            TerminalApp[None]()


def test_without_the_key_parser_the_desk_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(_xterm_parser, "XTermParser")
    with pytest.raises(private.UnsupportedTextual, match="XTermParser"):
        private.check_textual()


def test_without_the_parsers_own_attributes_the_desk_does_not_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Bare(Parser[object]):
        def __init__(self) -> None: ...

    monkeypatch.setattr(_xterm_parser, "XTermParser", Bare)
    with pytest.raises(private.UnsupportedTextual, match="XTermParser"):
        private.check_textual()


def test_without_their_attributes_the_others_fall_back() -> None:
    left: list[tuple[int, object]] = []
    bare: Any = SimpleNamespace(
        exit=lambda return_code, message=None: left.append((return_code, message))
    )
    private.end_with(bare, "the report")
    private.raise_in_app(bare, RuntimeError("a thread ended"))
    private.leave_out_tooltips_and_toasts(bare)
    assert left == [(1, "the report"), (1, None)]
    assert not private.drops_updates(bare)
    assert private.driver_of(bare) is None
    assert private.is_started(bare)
    assert private.queued_writes(bare) == 0
    assert private.lines_of_screen(bare, Size(5, 1), {0}) == []
    assert not private.is_screen_update(bare)
    assert private.region_of_whole(bare) is None
    assert private.pieces_of(bare) is None


def test_without_the_classes_of_updates_they_pass_unchanged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    none = type("NoUpdate", (), {})
    monkeypatch.setattr(private, "ChopsUpdate", none)
    monkeypatch.setattr(private, "LayoutUpdate", none)
    assert not private.is_screen_update("an update")
    assert private.pieces_of("an update") is None
    assert TerminalApp[None]().reduced("an update") == "an update"


def test_without_the_cache_of_styles_nothing_is_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(StylesCache, "get_inner_outer")
    private.clear_style_caches()


def private_uses() -> Iterator[str]:
    """Yield every private module of Textual or Rich that another module of the desk imports."""
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path == ONE_MODULE or not re.search(r"from (textual|rich)\b", text):
            continue
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.ImportFrom) or node.module is None:
                continue
            for name in node.names:
                full = f"{node.module}.{name.name}"
                if re.match(r"(textual|rich)\b.*\._", full):
                    yield f"{path.name}: {full}"


def test_no_other_module_imports_a_private_one() -> None:
    assert list(private_uses()) == []


def timers_that_may_be_lost() -> Iterator[str]:
    """Yield every one-shot timer that belongs neither to an app nor to a screen with our hooks."""
    kept = (private.TextualHooks, private.ScreenHooks)
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path == ONE_MODULE or ".set_timer(" not in text:
            continue
        module = import_module(".".join(path.relative_to(SOURCE.parent).with_suffix("").parts))
        for part in ast.walk(ast.parse(text)):
            if not isinstance(part, ast.ClassDef | ast.Module):
                continue
            owner = getattr(module, getattr(part, "name", ""), None)
            is_kept = isinstance(owner, type) and issubclass(owner, kept)
            for node in ast.walk(part):
                match node:
                    case ast.Call(func=ast.Attribute(value=of, attr="set_timer")):
                        receiver = ast.unparse(of)
                        if isinstance(part, ast.Module):
                            is_safe = receiver == "self" or receiver.endswith("app")
                        else:
                            is_safe = receiver != "self" or is_kept
                        if not is_safe:
                            yield f"{path.name}: {receiver}.set_timer"
                    case _:
                        pass


def test_every_timer_that_comes_once_is_one_of_an_app_or_a_screen() -> None:
    assert list(timers_that_may_be_lost()) == []


DEFINED = re.compile(
    r"def (_[a-z]\w*)\("
    r"|\.(_[a-z]\w*)(?=(?:: [^=\n]+|(?:, [\w.]+)*) = )"
    r"|^ *(_[a-z]\w*)(?:: \S.*|(?:, \w+)* = )",
    re.MULTILINE,
)
IMPORTS = re.compile(r"^ *(?:from|import) .*", re.MULTILINE)
OF_PYTHON = {"_exit", "_replace", "_asdict", "_fields"}  # of os and of named tuples
READ = re.compile(r"\w[\])]*\.(_[a-z]\w*)\b(?!`)")


def own_names(text: str) -> set[str]:
    """Return every private name that a module defines or sets: with syntax trees of all modules it took four seconds."""
    return {name for names in DEFINED.findall(text) for name in names if name}


def test_no_other_module_reads_a_private_attribute_that_the_desk_does_not_define() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    own = set().union(*map(own_names, texts.values())) | OF_PYTHON
    foreign = [
        f"{path.name}: {name}"
        for path, text in texts.items()
        if path != ONE_MODULE
        for name in READ.findall(IMPORTS.sub("", text))
        if name not in own
    ]
    assert foreign == []
