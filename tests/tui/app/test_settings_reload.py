"""Files of settings that change under a running desk: applied and said, or refused once with file, line, key and remedy."""

from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from keydesk.calc.market.price_levels import PriceLevel
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.config.price_levels import load_levels, save_level
from keydesk.config.settings import load_settings, save_profile
from keydesk.forms.account.limits import LimitsForm
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.keys.keymap import DESK
from keydesk_client.auth.profiles import Profile
from support.fakes.form_app import FormApp, example_context
from support.fakes.settings_desk import SettingsDesk
from support.walks import sampled_rows

D = Decimal


async def test_how_the_desk_looks_follows_config_toml(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("fps = 5\n")
    async with SettingsDesk(tmp_path).run_test() as pilot:
        app = pilot.app
        assert isinstance(app, SettingsDesk)
        text = 'fps = 4\ntheme = "light"\ntimezone = "Europe/Berlin"\n[alerts]\ndesktop = ["9"]\n'
        (tmp_path / "config.toml").write_text(text)
        assert await app.looks() == [
            "good config.toml read again: theme light, zone Europe/Berlin, fps 4, alerts"
        ]
        assert (app.theme, app.frames) == ("light", [4])
        assert app.desk.store.zone == ZoneInfo("Europe/Berlin")
        assert app.desk.alerts._settings.desktop == ("9",)
        assert await app.looks() == [], "it is said once"


async def test_tighter_limits_are_in_force_at_once(tmp_path: Path) -> None:
    async with SettingsDesk(tmp_path).run_test() as pilot:
        app = pilot.app
        assert isinstance(app, SettingsDesk)
        path = tmp_path / "templates.toml"
        path.write_text("[limits]\nhard_units = 500\n[limits.XAU_USD]\nhard_units = 5\n")
        [said] = await app.looks()
        assert said.startswith("good Limits in force: Units of a trade: 500")
        assert "Units of a trade in XAU/USD: 5" in said
        assert app.desk.form_context().limits.hard_units == D(500)
        assert app.desk.form_context().limits.of("XAU_USD").hard_units == D(5)


async def test_a_ticket_that_is_open_is_refused_by_a_limit_that_became_tighter() -> None:
    app = FormApp(lambda: TicketForm(example_context(), "BUY", "EUR_USD"))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        ticket = app.screen
        assert isinstance(ticket, TicketForm)
        assert "500" not in ticket.verdict().refusals
        assert not ticket.verdict().refusals
        ticket.take_limits(Limits(hard_units=D(500)))
        assert any("500" in each for each in ticket.verdict().refusals)


async def test_the_page_of_limits_shows_what_is_in_force_now() -> None:
    app = FormApp(lambda: LimitsForm(example_context()))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        page = app.screen
        assert isinstance(page, LimitsForm)
        page.take_limits(Limits(hard_units=D(777)))
        assert page.changes() == ()
        assert "777" in app.words


@pytest.mark.parametrize(
    ("name", "text", "said"),
    sampled_rows(
        [
            (
                "config.toml",
                "fps = 5\ntheem = 'light'\n",
                "config.toml:2: theem is not known; did you mean theme?",
            ),
            (
                "config.toml",
                "theme = 'sepia'\n",
                'config.toml:1: theme "sepia" is not known; there are: colour-blind',
            ),
            ("config.toml", "[alerts\n", "config.toml:1 is not valid TOML"),
            (
                "templates.toml",
                "[limits]\nhard_units = -1\n",
                "templates.toml:2: limits.hard_units must be",
            ),
            ("keymap.toml", "zoom = 'y'\n", "keymap.toml:1: zoom = 'y': it sends"),
            (
                "watchlists.toml",
                "[[lists]]\nnme = 'x'\n",
                "watchlists.toml:2: lists[1].nme is not known",
            ),
            ("workspaces.toml", "x = 1\n", "workspaces.toml:1: x is not known"),
            ("levels.toml", "[[levels]]\nprice = 'x'\n", "levels.toml:"),
        ],
        3,
    ),
)
async def test_a_file_that_cannot_be_used_leaves_the_last_good_values_and_is_said_once(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    async with SettingsDesk(tmp_path).run_test() as pilot:
        app = pilot.app
        assert isinstance(app, SettingsDesk)
        before = app.desk.form_context()
        (tmp_path / name).write_text(text)
        [notice] = await app.looks()
        assert notice.startswith("warn ")
        assert said in notice
        assert notice.endswith("The values of before are in force")
        assert app.desk.store.notices[-1].waits, "it stands until Esc"
        assert (app.theme, app.desk.form_context().limits) == ("dark", before.limits)
        (tmp_path / name).touch()
        assert await app.looks() == []
        (tmp_path / name).write_text("")
        assert await app.looks() == [f"good {name} can be used again"]
        assert not any(each.waits for each in app.desk.store.notices)


async def test_limits_of_a_file_that_is_removed_or_half_written_stay(tmp_path: Path) -> None:
    path = tmp_path / "templates.toml"
    path.write_text("[limits]\nhard_units = 500\n")
    async with SettingsDesk(tmp_path).run_test() as pilot:
        app = pilot.app
        assert isinstance(app, SettingsDesk)
        path.write_text("")
        await app.settings_files.look()
        path.write_text("[limits]\nhard_units = 50\nhard_op")
        [said] = await app.looks()
        assert "is not valid TOML" in said
        assert app.desk.settings.limits.hard_units == D(500)
        path.unlink()
        [said] = await app.looks()
        assert "templates.toml is gone: put it back" in said
        assert app.desk.settings.limits.hard_units == D(500)
        path.write_text("[limits]\nhard_units = 50\n")
        assert "Units of a trade: 50" in (await app.looks())[0]


async def test_keys_move_under_a_running_desk(tmp_path: Path) -> None:
    async with SettingsDesk(tmp_path).run_test() as pilot:
        app = pilot.app
        assert isinstance(app, SettingsDesk)
        (tmp_path / "keymap.toml").write_text('zoom = "%"\nbuy = "V"\ngo-trades = "g y"\n')
        assert await app.looks() == ["good keymap.toml read again: buy V, zoom %, go-trades gy"]
        desk = app.desk
        assert desk.guarded_keys.guard.touches_money("V", desk.guarded_keys._front())
        assert not desk.guarded_keys.guard.touches_money("B", desk.guarded_keys._front())
        assert desk.keymap.chord(DESK, "g", "y") == "go('trades')"
        assert "percent_sign" in app.screen.active_bindings
        assert "z" not in app.screen.active_bindings
        assert app.desk.window.keymap.name("buy") == "V"
        (tmp_path / "keymap.toml").write_text("")
        assert await app.looks() == ["good keymap.toml read again: buy B, zoom z, go-trades gt"]
        assert "z" in app.screen.active_bindings


async def test_two_desks_on_one_file_of_levels_show_the_same(tmp_path: Path) -> None:
    async with SettingsDesk(tmp_path).run_test() as pilot:
        app = pilot.app
        assert isinstance(app, SettingsDesk)
        save_level(tmp_path, "EUR_USD", PriceLevel("high", D("1.2"), None))
        assert await app.looks() == ["good levels.toml read again: 1 price level"]
        assert app.desk.store.levels == load_levels(tmp_path)


async def test_lists_follow_their_file(tmp_path: Path) -> None:
    async with SettingsDesk(tmp_path).run_test() as pilot:
        app = pilot.app
        assert isinstance(app, SettingsDesk)
        text = '[[lists]]\nname = "Yen"\ninstruments = ["USD_JPY"]\n'
        (tmp_path / "watchlists.toml").write_text(text)
        [said] = await app.looks()
        assert said.startswith("good watchlists.toml read again: ")
        assert app.desk.store.lists.by_name("Yen") is not None


async def test_what_the_desk_writes_itself_is_not_said_again(tmp_path: Path) -> None:
    from keydesk.config.limits import LimitChange  # noqa: PLC0415
    from keydesk.forms.command_list import SetOption  # noqa: PLC0415

    async with SettingsDesk(tmp_path).run_test() as pilot:
        app = pilot.app
        assert isinstance(app, SettingsDesk)
        app.desk.look.apply(SetOption("theme", "light"))
        app.desk.settings.apply_limits([LimitChange("hard_units", D(70))])
        await app.workers.wait_for_complete()
        assert await app.looks() == []
        assert (app.theme, app.desk.settings.limits.hard_units) == ("light", D(70))


async def test_a_profile_is_named_unless_the_desk_itself_has_written_it(tmp_path: Path) -> None:
    async with SettingsDesk(tmp_path).run_test() as pilot:
        app = pilot.app
        assert isinstance(app, SettingsDesk)
        save_profile(tmp_path, Profile("main", "practice", "101-001-1-1"))
        app.desk.look.know_profiles(load_settings(tmp_path))
        assert await app.looks() == []
        save_profile(tmp_path, Profile("second", "practice", "101-001-1-2"))
        assert await app.looks() == ["good config.toml read again: 2 profiles"]


async def test_a_theme_of_the_users_own_is_drawn_as_its_file_is_edited(tmp_path: Path) -> None:
    path = tmp_path / "themes" / "mine.toml"
    path.parent.mkdir()
    async with SettingsDesk(tmp_path).run_test() as pilot:
        app = pilot.app
        assert isinstance(app, SettingsDesk)
        path.write_text('[colours]\nprofit = "#00ff00"\n')
        assert await app.looks() == ["good themes read again: mine"]
        assert "mine" in app.desk.look.choices("theme")
        (tmp_path / "config.toml").write_text('theme = "mine"\n')
        assert await app.looks() == ["good config.toml read again: theme mine"]
        await pilot.pause()
        assert app.theme_variables["profit"] == "#00ff00"
        path.write_text('[colours]\nprofit = "#ffffff"\n')
        assert await app.looks() == ["good themes read again: mine"]
        await pilot.pause()
        assert (app.theme, app.theme_variables["profit"]) == ("mine", "#ffffff")
        path.write_text('[colours]\nprofit = "#111111"\n')
        [said] = await app.looks()
        assert "mine.toml:2: colours.profit #111111 on background" in said
        assert app.theme_variables["profit"] == "#ffffff", "the last good one"
        path.unlink()
        await app.looks()
        await pilot.pause()
        assert (app.theme, app.theme_variables["profit"]) == ("mine", "#ffffff")


async def test_a_theme_that_is_made_and_chosen_at_once_is_shown(tmp_path: Path) -> None:
    async with SettingsDesk(tmp_path).run_test() as pilot:
        app = pilot.app
        assert isinstance(app, SettingsDesk)
        (tmp_path / "themes").mkdir()
        (tmp_path / "themes" / "mine.toml").write_text('base = "light"\n')
        (tmp_path / "config.toml").write_text('theme = "mine"\n')
        assert await app.looks() == ["good config.toml read again: theme mine"]
        assert app.theme == "mine"
