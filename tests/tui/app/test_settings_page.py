"""The page of settings, driven by keys: a change is in force and in the file at once, comments stay."""

from pathlib import Path
from typing import get_args

import pytest

from keydesk.config.settings import load_alert_settings, load_settings
from keydesk.forms.account.settings import ALWAYS, CHANNEL_TEXTS, LABELS, SettingsForm
from keydesk.forms.market.watchlists import ColumnsForm
from keydesk.settings.values import KINDS, CandleLook
from support.data.desk_data import frame_of
from support.fakes.settings_desk import SettingsDesk
from support.walks import sampled, sampled_rows

MINE = "# mine\nfps = 5  # slow line\n\n[alerts]  # and these\nnotify_timeout = 3\n"


class Page:
    """The page over a desk, and how a trader reads and drives it."""

    def __init__(self, app: SettingsDesk) -> None:
        self.app = app

    @property
    def text(self) -> str:
        assert isinstance(self.app.screen, SettingsForm)
        assert self.app.screen.panel is not None
        return self.app.screen.panel.text

    def row(self, label: str) -> str:
        return next(line for line in self.text.split("\n") if label in line)


async def after(folder: Path, *keys: str, size: tuple[int, int] = (80, 24)) -> Page:
    async with SettingsDesk(folder).run_test(size=size) as pilot:
        app = pilot.app
        assert isinstance(app, SettingsDesk)
        await pilot.pause()
        app.settings_page.show()
        await pilot.pause()
        await pilot.press(*keys)
        await app.workers.wait_for_complete()
        await pilot.pause()
        return Page(app)


async def test_a_theme_is_seen_while_it_is_turned_and_written_with_the_comments_kept(
    tmp_path: Path,
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(MINE)
    async with SettingsDesk(tmp_path).run_test(size=(80, 24)) as pilot:
        app = pilot.app
        assert isinstance(app, SettingsDesk)
        await pilot.pause()
        app.settings_page.show()
        await pilot.pause()
        page = Page(app)
        assert "● dark" in page.row("colours")
        assert page.row("SHORT").startswith("Preview "), "a sample of the colours"
        await pilot.press("l")
        await app.workers.wait_for_complete()
        assert app.theme == "light"
        await pilot.pause()
        assert "● light" in page.row("colours")
        assert "○ dark" in page.row("colours")
        assert load_settings(tmp_path).theme == "light"
        for line in MINE.strip().split("\n"):
            assert line in path.read_text()
        assert load_alert_settings(tmp_path).notify_timeout == 3, "the table is as it was"


@pytest.mark.parametrize(
    ("keys", "key", "value"),
    sampled_rows(
        [
            (("j", "j", "j", "l"), "candles", "bars"),
            (("j", "j", "j", "j", "space"), "key_hints", False),
            (("j", "j", "j", "j", "j", "h"), "frames_per_second", 30),
            (("j", "j", "j", "j", "j", "j", "enter"), "ascii", True),
            (("j", "j", "j", "j", "j", "j", "j", "l"), "mouse", True),
        ],
        2,
    ),
)
async def test_each_row_sets_its_key(
    tmp_path: Path, keys: tuple[str, ...], key: str, value: object
) -> None:
    await after(tmp_path, *keys)
    assert getattr(load_settings(tmp_path), key) == value


async def test_a_kind_of_event_is_delivered_by_other_channels_at_once(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(MINE)
    page = await after(tmp_path, *["j"] * 8, "l", "space")
    assert page.app.desk.alerts.settings.kinds["alert"] == ("flash", "desktop", "command")
    alerts = load_alert_settings(tmp_path)
    assert (alerts.kinds["alert"], alerts.notify_timeout) == (("flash", "desktop", "command"), 3)
    assert "# mine" in (tmp_path / "config.toml").read_text()


async def test_every_kind_has_a_row_on_a_small_terminal(tmp_path: Path) -> None:
    async with SettingsDesk(tmp_path).run_test(size=(80, 24)) as pilot:
        app = pilot.app
        assert isinstance(app, SettingsDesk)
        await pilot.pause()
        app.settings_page.show()
        await pilot.press(*["j"] * 15)
        assert "▶ a limit reached" in Page(app).text
        await pilot.press(*["k"] * 15)
        assert "▶ colours" in Page(app).text
        assert len(KINDS) == 7


async def test_what_another_desk_has_changed_is_shown_on_the_open_page(tmp_path: Path) -> None:
    async with SettingsDesk(tmp_path).run_test(size=(80, 24)) as pilot:
        app = pilot.app
        assert isinstance(app, SettingsDesk)
        await pilot.pause()
        app.settings_page.show()
        await pilot.pause()
        (tmp_path / "config.toml").write_text('theme = "light"\n')
        await app.looks()
        assert isinstance(app.screen, SettingsForm)
        app.screen.on_frame(frame_of(app.desk.store))
        assert "● light" in Page(app).row("colours")


async def test_columns_open_their_list(tmp_path: Path) -> None:
    async with SettingsDesk(tmp_path).run_test(size=(80, 24)) as pilot:
        app = pilot.app
        assert isinstance(app, SettingsDesk)
        await pilot.pause()
        app.settings_page.show()
        await pilot.press("j", "j", "l", "enter")
        assert isinstance(app.screen, ColumnsForm)


async def test_a_file_that_cannot_be_written_is_said_and_the_change_holds(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    async with SettingsDesk(tmp_path).run_test(size=(80, 24)) as pilot:
        app = pilot.app
        assert isinstance(app, SettingsDesk)
        await pilot.pause()
        app.settings_page.show()
        path.write_text("theme = ")  # half a line, by an editor meanwhile
        await pilot.press("l", *["j"] * 8, "space")
        await app.workers.wait_for_complete()
        said = [each.text for each in app.desk.store.notices]
        assert sum("not saved" in each for each in said) == 2
        assert app.theme == "light"
        assert path.read_text() == "theme = "


LINES: dict[tuple[int, int], list[str]] = {}


async def lines_at(folder: Path, size: tuple[int, int]) -> list[str]:
    """Return the lines of the page in a terminal of this size; they are drawn once for all tests, over no file."""
    if size not in LINES:
        LINES[size] = await drawn_lines(folder, size)
    return LINES[size]


async def drawn_lines(folder: Path, size: tuple[int, int]) -> list[str]:
    async with SettingsDesk(folder).run_test(size=size) as pilot:
        app = pilot.app
        assert isinstance(app, SettingsDesk)
        await pilot.pause()
        app.settings_page.show()
        await pilot.press("j")
        return [line.rstrip() for line in Page(app).text.split("\n")]


@pytest.mark.parametrize("size", sampled([(200, 50), (240, 60)], 1))
async def test_a_large_terminal_has_every_meaning_beside_its_values_and_a_preview_of_the_colours(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    lines = await lines_at(tmp_path, size)
    for label, meaning in LABELS.values():
        assert any(label in line and meaning in line for line in lines), label
    assert any("Notified by" in line and "always written" in line for line in lines)
    assert any("READ-ONLY" in line for line in lines)


async def test_every_explanation_has_the_same_left_edge_and_the_page_is_as_high_as_its_chart(
    tmp_path: Path,
) -> None:
    lines = await lines_at(tmp_path, (200, 50))
    texts = [*(meaning for _, meaning in LABELS.values()), ALWAYS, *CHANNEL_TEXTS]
    edges = {
        line[20:].index(f"   {text}")
        for text in texts
        for line in lines
        if f"   {text}" in line[60:]
    }
    assert len(edges) == 1
    settings = next(at for at, line in enumerate(lines) if "a limit reached" in line)
    assert len([*filter(None, lines[settings + 1 :])]) <= 4


async def test_where_a_blank_line_has_no_room_a_rule_parts_looks_and_notices(
    tmp_path: Path,
) -> None:
    assert any(line.startswith("Notified by ────") for line in await lines_at(tmp_path, (80, 24)))
    lines = await lines_at(tmp_path, (120, 35))
    at = next(number for number, line in enumerate(lines) if line.startswith("Notified by   "))
    assert "mouse" in lines[at - 2]


async def test_the_preview_stands_beside_the_settings_where_it_fits(tmp_path: Path) -> None:
    lines = await lines_at(tmp_path, (120, 35))
    assert any("time zone" in line and "READ-ONLY" in line for line in lines)
    assert "in which times are shown" in lines
    at = next(number for number, line in enumerate(lines) if "entry stop target" in line)
    assert not lines[at - 1][lines[at].index("entry stop") :].strip()
    assert not any("READ-ONLY" in line for line in await lines_at(tmp_path, (80, 24)))


async def test_every_value_of_a_setting_is_in_its_row_and_many_are_a_range(tmp_path: Path) -> None:
    lines = await lines_at(tmp_path, (80, 24))
    chart = next(line for line in lines if "  chart " in line)
    assert [each for each in get_args(CandleLook) if each in chart] == [*get_args(CandleLook)]
    frames = next(line for line in lines if "frames a second" in line)
    assert frames.endswith("● auto  ○ 1 to 30")


async def test_in_a_wide_window_the_preview_has_a_chart_and_each_channel_is_explained(
    tmp_path: Path,
) -> None:
    lines = await lines_at(tmp_path, (200, 50))
    assert any("a rejection" in line and "notify in config.toml" in line for line in lines)
    text = "\n".join(lines)
    for words in ("target", "entry 1.08380", "1.08431", "2 Mar"):
        assert words in text, words
    narrower = "\n".join(await lines_at(tmp_path, (120, 35)))
    assert "Preview" in narrower
    assert "entry 1.08380" not in narrower
