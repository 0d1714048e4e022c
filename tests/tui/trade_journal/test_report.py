import re
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

from keydesk.calc.market.trading_day import trading_date
from keydesk.calc.trade_journal.notes import TradeNote
from keydesk.calc.trade_journal.rebuild import BalancePoint, Journal
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk.trade_journal.csv_rows import RowContext, escaped, markdown_table, text_table
from keydesk.trade_journal.report import LimitHit, as_markdown, as_text, day_of, page, week_of
from keydesk.trade_journal.snapshot import read_limit_hits
from keydesk.trading.audit import AuditLog
from support.data.journal_trades import HOUR, MONDAY, closed_trade

DAY = 24 * HOUR
NEW_YORK = ZoneInfo("America/New_York")
TRADES = (
    closed_trade("100", 1, opened_ns=MONDAY),
    closed_trade("-40", 2, opened_ns=MONDAY + DAY, instrument="USD_JPY"),
    closed_trade("7", 3, opened_ns=MONDAY + 9 * DAY),
)
SIX_TRADES = (
    *TRADES[:2],
    *(closed_trade("1", 10 + number, opened_ns=MONDAY + number * HOUR) for number in range(4)),
)
JOURNAL = Journal(TRADES, (BalancePoint(MONDAY - 7 * DAY, Decimal(10_000), Decimal(10_000)),))
NOTES = {"2": TradeNote(("news",), "fade", "Too | early *really*", 2, "chased <b>")}


def shown(day: date, *, week: bool = False, trades: Sequence[JournalTrade] = TRADES) -> list[str]:
    period = week_of(day) if week else day_of(day)
    journal = Journal(tuple(trades), JOURNAL.balances)
    return list(as_markdown(page(journal, period, RowContext(NOTES), "PRACTICE")))


def test_the_week_has_its_trades_days_groups_and_notes() -> None:
    lines = shown(date(2024, 3, 6), week=True, trades=SIX_TRADES)
    assert lines[0] == "# Week 10 of 2024, from Mon 4 Mar  PRACTICE"
    assert "| max drawdown | −40.00 | (0.40 %) |" in lines
    assert "| average win | +20.80 | n 5 |" in lines
    assert "| Mon 4 Mar | 5 | 100 | +104.00 | +1.04 |" in lines
    assert "| Tue 5 Mar | 1 | 0 | −40.00 | −0.40 |" in lines
    assert "## By instrument" in lines
    assert any(line.startswith("- 2 USD/JPY: rating 2, \\#news, mistake: chased") for line in lines)
    assert len(lines) < 70


def test_a_day_has_only_its_own_trades() -> None:
    lines = shown(date(2024, 3, 5))
    assert lines[0] == "# Tuesday 5 Mar 2024  PRACTICE"
    assert not any(line.startswith("| 1 |") for line in lines)
    assert any(line.startswith("| 2 |") for line in lines)


def test_a_day_without_trades_says_so() -> None:
    assert shown(date(2024, 3, 7))[2:] == ["- No trade was closed."]
    assert as_text(page(JOURNAL, day_of(date(2024, 3, 7)), RowContext(), ""))[2:] == [
        "No trade was closed."
    ]


def test_numbers_are_written_as_on_the_other_pages() -> None:
    trades = (
        closed_trade("-1234.5", 1, opened_ns=MONDAY, units=150_000),
        closed_trade("12345678.9", 2, opened_ns=MONDAY + HOUR),
    )
    journal = Journal(trades, JOURNAL.balances)
    lines = as_text(page(journal, week_of(date(2024, 3, 6)), RowContext(), ""))
    text = "\n".join(lines)
    assert re.search(r"^ *1 .* 150,000 .* −1,234\.50 +−12\.3", text, re.MULTILINE)
    assert "12,345,678.90" in text
    assert "12,344,444.40" in text
    assert not re.search(r"(?<![\w-])-\d", text)
    assert not re.search(r"\d{5}", text)


def test_a_trading_day_ends_at_17_new_york_and_has_the_date_of_its_end() -> None:
    for clock, day in (("2024-03-04T16:59", 4), ("2024-03-04T17:00", 5)):
        at = datetime.fromisoformat(clock).replace(tzinfo=NEW_YORK)
        assert trading_date(int(at.timestamp()) * 10**9) == date(2024, 3, day)


def test_a_trade_closed_at_17_exactly_stands_on_the_page_of_the_day_that_ends() -> None:
    trade = closed_trade("10", opened_ns=day_of(date(2024, 3, 5)).start_ns - HOUR)  # held an hour
    ended, begun = (
        as_text(page(Journal((trade,)), day_of(date(2024, 3, day)), RowContext(), ""))
        for day in (4, 5)
    )
    assert any("+10.00" in line for line in ended)
    assert "No trade was closed." in begun


def test_a_week_has_seven_days_without_gaps_over_a_change_of_the_clocks() -> None:
    days = week_of(date(2024, 3, 10)).days
    assert [each[0].day for each in days] == [4, 5, 6, 7, 8, 9, 10]
    assert all(one[2] == other[1] for one, other in pairwise(days))


def test_text_formats_nothing_in_markdown() -> None:
    assert escaped("a|b <i> [x](y) `z`") == "a\\|b \\<i\\> \\[x\\](y) \\`z\\`"
    table = markdown_table(["note"], [{"note": "a|b\x1b[31m\nc"}])
    assert table[2].count("|") == 3
    assert all(line.isprintable() for line in table)


def test_columns_of_numbers_stand_right() -> None:
    rows = [{"name": "a", "n": "1"}, {"name": "bbb", "n": "1000"}]
    assert text_table(["name", "n"], rows) == ["name     n", "a        1", "bbb   1000"]


def test_the_page_begins_with_result_best_worst_and_what_mistakes_cost() -> None:
    lines = shown(date(2024, 3, 6), week=True, trades=SIX_TRADES)
    assert lines[2:6] == [
        "- Result: +64.00, +0.64 R, 6 trades, 83 % won",
        "- Best: 1 EUR/USD long, +100.00, +1.00 R",
        "- Worst: 2 USD/JPY long, −40.00, −0.40 R",
        "- Mistakes: chased \\<b\\>, 1 x, −40.00, −0.40 R",
    ]


def test_the_result_has_its_currency() -> None:
    found = page(JOURNAL, day_of(date(2024, 3, 5)), RowContext(), "", currency="EUR")
    assert found.sections[0].sentences == ("Result: −40.00 EUR, −0.40 R, 1 trade, 0 % won",)


def test_no_figure_stands_twice_and_none_that_would_be_chance_is_said_of_few_trades() -> None:
    of_six, of_many = (
        [each.split(" | ")[0].strip("| ") for each in lines[lines.index("## Figures") + 4 :]]
        for lines in (
            shown(date(2024, 3, 6), week=True, trades=trades)
            for trades in (SIX_TRADES, [closed_trade("1", n, opened_ns=MONDAY) for n in range(20)])
        )
    )
    assert of_six == ["average win", "average loss", "max drawdown", "longest run of losses"]
    assert {"expectancy", "longest run of wins"} <= set(of_many)
    assert not {"trades", "result", "win %"} & set(of_many)


def test_few_trades_are_listed_without_what_repeats_their_list() -> None:
    text = "\n".join(shown(date(2024, 3, 6), week=True))
    assert "## Trades" in text
    assert not any(word in text for word in ("Best:", "Worst:", "## By", "## Figures"))


def test_limits_of_the_period_stand_with_their_time_and_of_many_the_first() -> None:
    hits = [LimitHit(MONDAY + number, f"limit {number}") for number in range(20)]
    later = LimitHit(MONDAY + 2 * DAY, "another day")
    found = page(JOURNAL, day_of(date(2024, 3, 4)), RowContext(), "", [*hits, later])
    [limits] = [each for each in found.sections if each.title == "Limits"]
    assert limits.sentences[0] == "12:00 limit 0"
    assert limits.sentences[-1] == "and 8 more"


def test_limits_and_refusals_are_read_from_the_audit_log(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    log = AuditLog(tmp_path / "main.audit", wall_ns=iter(range(9)).__next__)
    log.write("limit", "Daily loss limit reached")
    log.write("key", "B")
    log.write("refused", "y: more than 5 trades are open (BUY EUR/USD)")
    assert [each.text for each in read_limit_hits(log.path)] == [
        "Daily loss limit reached",
        "refused: more than 5 trades are open (BUY EUR/USD)",
    ]
    assert read_limit_hits(tmp_path / "absent") == ()
