"""Making an alert at the desk: what is said of one whose condition is true already."""

from pathlib import Path
from typing import Any

import pytest

from keydesk.app.alerts.account_alerts import AccountAlerts
from keydesk.keys.keymap import KEYMAP
from keydesk.parse.alerts import parse_alert
from keydesk.settings.values import AlertSettings
from keydesk.store.store import Store
from support.alert_watch import D, watching
from support.data.desk_data import desk_store

NO_APP: Any = None  # no form is shown


async def said(folder: Path, store: Store, line: str) -> str:
    """Make an alert; return what the desk says."""
    folder.chmod(0o700)
    alerts = AccountAlerts(
        NO_APP,
        store,
        AlertSettings(),
        write=lambda _: None,
        keymap=KEYMAP,
    )
    async with watching(folder / "101.alerts", store) as desk:
        alerts.watch = desk.watch
        alerts.make(parse_alert(line, store.instruments, "EUR_USD"))
        await desk.watch.settled()
    return store.notices[-1].text


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("spread > 0.1p repeat 1m", "the spread is there already ("),
        ("> 1.05", "the price is there already ("),
        ("bid < 1.2", "the price is there already ("),
        ("trade 6411 > -900", "the P/L of the trade is there already ("),
        ("pl < 90000", "the open P/L is there already ("),
        ("margin < 99", "the margin closeout is there already ("),
    ],
)
async def test_an_alert_whose_condition_is_true_already_says_so(
    tmp_path: Path, line: str, named: str
) -> None:
    assert named in await said(tmp_path, desk_store(), line)


@pytest.mark.parametrize(
    "line", ["spread > 90p", "trade 6411 > 90000", "high", "rsi > 70 h1", "clients > 60"]
)
async def test_an_alert_that_waits_or_whose_value_is_not_known_says_nothing_more(
    tmp_path: Path, line: str
) -> None:
    assert "already" not in await said(tmp_path, desk_store(), line)


async def test_the_note_has_the_value_as_it_is_now(tmp_path: Path) -> None:
    store = desk_store()
    assert store.account is not None
    store.account.day_pl = D(-301)
    assert "the P/L of the day is there already (−301.00)" in await said(
        tmp_path, store, "day < -300"
    )
