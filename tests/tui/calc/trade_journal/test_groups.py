from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keydesk.calc.market.sessions import sessions_at
from keydesk.calc.trade_journal.groups import GROUPINGS, GroupContext, grouped, session_of
from keydesk.calc.trade_journal.notes import BadNote, TradeNote, rating_in, tags_in
from keydesk.calc.trade_journal.trades import JournalTrade
from support.data.journal_trades import HOUR, MONDAY, closed_trade

DAY = 24 * HOUR
TRADES = [
    closed_trade("100", 1, opened_ns=MONDAY, hold_ns=HOUR // 30),
    closed_trade("-50", 2, opened_ns=MONDAY + HOUR, units=-500),
    closed_trade("20", 3, opened_ns=MONDAY + 3 * HOUR, instrument="USD_JPY"),
    closed_trade("0", 4, opened_ns=MONDAY + 4 * HOUR, hold_ns=2 * DAY, units=2_000_000),
    closed_trade("-5", 5, opened_ns=MONDAY + 4 * DAY),
]
NOTES = {"1": TradeNote(("news", "long"), "breakout", rating=4), "2": TradeNote(mistake="chased")}


def ids(groups: dict[str, list[JournalTrade]]) -> dict[str, str]:
    return {name: "".join(each.id for each in those) for name, those in groups.items()}


@pytest.mark.parametrize(
    ("grouping", "expected"),
    [
        ("instrument", {"EUR_USD": "1245", "USD_JPY": "3"}),
        ("side", {"long": "1345", "short": "2"}),
        ("session", {"London": "15", "London and New York": "234"}),
        ("hour", {"07:00": "15", "08:00": "2", "10:00": "3", "11:00": "4"}),
        ("weekday", {"Mon": "1234", "Fri": "5"}),
        (
            "weekday-hour",
            {
                "Mon 07:00": "1",
                "Mon 08:00": "2",
                "Mon 10:00": "3",
                "Mon 11:00": "4",
                "Fri 07:00": "5",
            },
        ),
        ("tag", {"long": "1", "news": "1", "none": "2345"}),
        ("setup", {"breakout": "1", "none": "2345"}),
        ("rating", {"4": "1", "none": "2345"}),
        ("mistake", {"chased": "2", "none": "1345"}),
        ("hold", {"under 5 min": "1", "30 min to 2 h": "235", "over 24 h": "4"}),
        ("size", {"under 1k": "2", "10k to 100k": "135", "1M and more": "4"}),
        (
            "order",
            {
                "1st of the day": "15",
                "2nd of the day": "2",
                "3rd of the day": "3",
                "4th and later": "4",
            },
        ),
        (
            "after",
            {
                "after a loss": "3",
                "after a win": "24",
                "after break-even": "5",
                "no trade before": "1",
            },
        ),
    ],
)
def test_trades_are_grouped_in_a_natural_order(grouping: str, expected: dict[str, str]) -> None:
    context = GroupContext(TRADES, NOTES, ZoneInfo("America/New_York"))
    found = ids(grouped(TRADES, grouping, context))
    assert list(found.items()) == list(expected.items())


def test_every_grouping_takes_every_trade() -> None:
    context = GroupContext(TRADES)
    for name in GROUPINGS:
        found = grouped(TRADES, name, context)
        assert {each.id for those in found.values() for each in those} == set("12345")


def test_typed_tags_are_separated_by_spaces_or_commas() -> None:
    assert tags_in("#News, trend  news") == ("news", "trend")
    with pytest.raises(BadNote, match="at most 20"):
        tags_in(" ".join(map(str, range(21))))


@pytest.mark.parametrize("text", ["0", "6", "x", "-1", "1.5"])
def test_a_rating_is_1_to_5_or_nothing(text: str) -> None:
    assert (rating_in("3"), rating_in(" ")) == (3, None)
    with pytest.raises(BadNote, match="1 to 5"):
        rating_in(text)


@given(st.integers(0, 3 * 366 * 24 * 60))
def test_the_session_of_an_instant_is_that_of_its_hour(minutes: int) -> None:
    at = MONDAY + minutes * 60_000_000_000
    names = [each.name for each in sessions_at(at) if each.is_open]
    assert session_of(at) == (" and ".join(names) or "none")
