"""How the desk looks, changed while it runs: at once, and at the next start."""

import tomllib
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from zoneinfo import ZoneInfo

import pytest

from keydesk.app.look import DeskLook
from keydesk.config.settings import load_settings
from keydesk.forms.command_list import OPTIONS, SetOption
from keydesk.settings.about import AUTO, About, Member
from keydesk.settings.values import Settings
from keydesk.store.store import Store
from keydesk_client.auth.profiles import read_profile

if TYPE_CHECKING:
    from keydesk.widgets.terminal_app import TerminalApp


MAIN = read_profile("main", {"environment": "practice", "account": "1", "token_store": "vault"})


class Screen:
    """What is drawn, and the workers that it was given."""

    def __init__(self, *, has_colours: bool = True) -> None:
        self.theme, self.has_colours, self.is_ascii = "dark", has_colours, False
        self.screen_stack: list[object] = []
        self.own_themes: Mapping[str, object] = {}
        self.working: list[Coroutine[Any, Any, None]] = []

    def show_ascii(self, only: bool) -> None:
        self.is_ascii = only

    def run_worker(self, work: Coroutine[Any, Any, None], *_: str, group: str) -> None:
        assert group
        self.working.append(work)


class Desk:
    """A look with all that it changes."""

    def __init__(
        self,
        folder: Path,
        *,
        has_colours: bool = True,
        forced: Mapping[str, str] | None = None,
    ) -> None:
        self.screen, self.store = Screen(has_colours=has_colours), Store()
        self.frames: list[int | None] = []
        app = cast("TerminalApp[int]", self.screen)
        self.look = DeskLook(
            app,
            self.store,
            folder,
            Settings(profiles={"main": MAIN}),
            self.frames.append,
            forced=forced,
        )

    async def sets(self, name: str, value: str) -> str:
        self.look.apply(SetOption(name, value))
        for work in self.screen.working:
            await work
        self.screen.working.clear()
        return self.store.notices[-1].text


async def test_theme_frames_and_zone_are_kept_for_the_next_start(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("# mine\nfps = 3\n")
    desk = Desk(tmp_path)
    assert await desk.sets("theme", "light") == "theme light, also at the next start"
    await desk.sets("zone", "Europe/Berlin")
    await desk.sets("fps", "5")
    assert (desk.screen.theme, desk.store.zone) == ("light", ZoneInfo("Europe/Berlin"))
    settings = load_settings(tmp_path)
    assert (settings.theme, settings.frames_per_second) == ("light", 5)
    assert settings.zone == ZoneInfo("Europe/Berlin")
    await desk.sets("fps", "auto")
    await desk.sets("zone", "system")
    assert desk.frames == [5, None]
    assert (tmp_path / "config.toml").read_text().startswith("# mine\n")
    assert set(tomllib.loads((tmp_path / "config.toml").read_text())) == {"theme"}


async def test_switches_are_kept_and_the_usual_state_leaves_the_file(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    assert await desk.sets("ascii", "on") == "ascii on, also at the next start"
    await desk.sets("hints", "off")
    await desk.sets("candles", "bars")
    assert desk.screen.is_ascii
    settings = load_settings(tmp_path)
    assert (settings.ascii, settings.key_hints, settings.candles) == (True, False, "bars")
    for name, usual in (("ascii", "off"), ("hints", "on"), ("candles", "candles")):
        await desk.sets(name, usual)
    assert tomllib.loads((tmp_path / "config.toml").read_text()) == {}


async def test_what_could_not_be_written_holds_until_the_desk_is_left(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("theme = ")
    desk = Desk(tmp_path)
    await desk.sets("theme", "light")
    path.write_text("fps = 4\n")
    main = {"main": MAIN}
    assert desk.look.take(Settings(frames_per_second=4, profiles=main)) == ["fps 4"]
    assert desk.screen.theme == "light"


async def test_what_the_command_line_chose_is_shown_and_not_written(tmp_path: Path) -> None:
    desk = Desk(tmp_path, forced={"theme": "light", "ascii": "on"})
    assert (desk.look.value("theme"), desk.look.value("ascii")) == ("light", "on")
    assert desk.look.take(Settings(frames_per_second=5, profiles={"main": MAIN})) == ["fps 5"], (
        "and the theme stays"
    )
    assert desk.look.value("theme") == "light"


async def test_a_theme_that_was_only_looked_at_is_taken_back(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for name in ("light", "mono", ""):
        desk.look.preview(name)
    assert desk.screen.theme == "dark"
    desk.look.preview("light")
    await desk.sets("theme", "light")
    desk.look.preview("")
    assert desk.screen.theme == "light"


async def test_a_terminal_without_colours_keeps_its_theme(tmp_path: Path) -> None:
    desk = Desk(tmp_path, has_colours=False)
    desk.look.preview("light")
    await desk.sets("theme", "light")
    assert desk.screen.theme == "dark"
    assert load_settings(tmp_path).theme == "light", "at the next start, where there are some"


async def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("theme = ")
    assert "not saved: " in await Desk(tmp_path).sets("theme", "light")


@pytest.mark.parametrize("name", OPTIONS)
def test_every_option_has_values(name: str, tmp_path: Path) -> None:
    assert len(Desk(tmp_path).look.choices(name)) > 1


@pytest.mark.parametrize(("type_", "choices"), [(int, ("1", "2")), (int | None, (AUTO, "1", "2"))])
def test_auto_is_offered_only_where_the_file_may_have_no_number(
    type_: object, choices: tuple[str, ...]
) -> None:
    assert Member("minutes", type_, About(within=range(1, 3))).choices == choices
