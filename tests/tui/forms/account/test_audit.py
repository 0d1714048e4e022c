"""The viewer of the audit log, by keys alone."""

from datetime import UTC

import pytest

from keydesk.forms.account.audit import AuditForm
from keydesk.text.sanitize import clean
from keydesk.trading.audit import AuditEntry
from support.fakes.form_app import FormApp
from support.walks import sampled

ENTRIES = [
    AuditEntry(10**18 - at * 10**9, 7, clean(what), clean(words))
    for at, (what, words) in enumerate(
        [
            ("outcome", "FILLED 10,000 EUR/USD @ 1.08502"),
            ("confirm", "y on BUY 10,000 EUR/USD"),
            ("preview", "opened: " + "BUY 10,000 EUR/USD at market " * 20),
            *[("key", "B")] * 40,
        ]
    )
]


async def after(*keys: str, size: tuple[int, int] = (80, 24)) -> str:
    app = FormApp(lambda: AuditForm(list(ENTRIES), UTC))
    async with app.run_test(size=size) as pilot:
        await pilot.press(*keys)
        await pilot.pause()
        return app.words


@pytest.mark.parametrize("size", sampled([(40, 12), (60, 14), (60, 16)], 1))
async def test_a_small_window_keeps_the_frame_whole(size: tuple[int, int]) -> None:
    text = await after("down", "down", size=size)
    assert "▶" in text
    assert "process 7" in text
    assert text.strip().splitlines()[-1].startswith("╰")


@pytest.mark.parametrize("size", sampled([(80, 24), (120, 35), (200, 50), (60, 16)], 2))
async def test_the_newest_entries_come_first_and_the_chosen_one_in_full(
    size: tuple[int, int],
) -> None:
    text = await after(size=size)
    assert "Audit log  43 of 43" in text
    assert text.index("outcome   FILLED") < text.index("confirm   y on")
    assert "process 7" in text
    assert "Esc closes" in text


async def test_letters_filter_and_arrows_choose() -> None:
    text = await after(*"what:preview")
    assert "Audit log  1 of 43" in text
    assert "key       B" not in text
    assert "▶ 01:46:39 confirm" in await after("down")


async def test_what_no_entry_has_is_said() -> None:
    assert "No entry matches" in await after(*"zzz", "down")


async def test_an_entry_of_a_market_with_its_own_time_names_that_clock() -> None:
    entry = AuditEntry(10**18, 7, clean("key"), clean("B"), market_ns=9 * 10**17)
    app = FormApp(lambda: AuditForm([entry], UTC))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "1998-07-09 16:00:00 UTC, the market's time" in app.words
