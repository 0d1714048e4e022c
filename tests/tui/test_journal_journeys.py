"""Each promise about alerts, the away card, the journal, its statistics and the log's history, and the tests that show it.

The values name tests as `folder/file::test`. A row whose test is renamed or removed fails.
"""

from pathlib import Path

import pytest

from support.named_tests import missing

ENGINE = "tui/calc/alerts/test_engine::test_"
PARSER = "tui/calc/alerts/test_parser::test_"
WATCH = "tui/alerts/test_watch::test_"
VALUES = "tui/alerts/test_account_values::test_"
BOOK = "tui/alerts/test_alert_file::test_"
DELIVERY = "tui/alerts/test_delivery::test_"
PAGE = "tui/forms/market/test_alerts::test_"
RINGS = "journeys/test_alerts::test_an_alert_from_the_crosshair_rings_and_is_found_after_a_restart"
HEADLESS = (
    "journeys/test_alerts::"
    "test_without_the_desk_alerts_are_watched_and_given_to_the_traders_command"
)
ALERTS = {
    "bid, ask, mid; cross up, cross down, touch; percent and pips; every typed condition": (
        PARSER + "a_line_means_its_condition",
        PARSER + "a_distance_counts_from_the_price_of_its_side_when_it_is_made",
    ),
    "spread; new day high or low": (WATCH + "spread_and_day_extremes",),
    "EMA cross, RSI level, ATR multiple": (
        WATCH + "an_indicator_is_judged_at_the_close_of_its_candles",
    ),
    "P/L of a trade and the account in R, stream silence, time": (
        WATCH + "results_of_trades_and_account_silence_and_the_clock",
    ),
    "P/L in money, margin": (
        VALUES + "a_value_of_the_account_that_crosses_its_level_is_told_once",
        VALUES + "the_result_of_a_trade_in_money",
    ),
    "rollover": (VALUES + "the_rollover_is_told_so_many_minutes_before",),
    "book net long": (
        VALUES + "the_clients_positions_are_read_also_of_the_instrument_in_focus_and_told",
    ),
    "every condition is kept": (BOOK + "every_condition_is_written_and_read_exactly",),
    "made from the crosshair": (PAGE + "n_at_the_crosshair_takes_its_price", RINGS),
    "made from the watchlist": (
        PAGE + "n_makes_an_alert_on_the_instrument_and_arrows_turn_its_direction",
    ),
    "made from a trade": (PAGE + "n_on_a_trade_is_about_its_result",),
    "made by :alert": (
        PARSER + "the_ending_says_how_often_how_long_and_why",
        PARSER + "an_error_names_the_part_and_shows_how_to_write_it",
    ),
    "a crossing needs a fresh crossing": (
        ENGINE + "a_price_that_is_beyond_the_level_already_crosses_nothing",
        WATCH + "a_crossing_is_told_once_and_the_next_only_after_a_fresh_one",
    ),
    "once, repeat with a pause, expiry": (
        ENGINE + "an_alert_that_is_told_once_is_told_at_the_first_crossing_only",
        ENGINE + "a_repeated_alert_is_not_told_in_its_pause_and_needs_a_fresh_crossing_after_it",
        ENGINE + "an_expired_or_paused_alert_is_not_told",
    ),
    "a list with edit, pause, history": (
        PAGE + "the_page_lists_watched_ones_first_at_every_size",
        PAGE + "keys_of_the_page_ask_for_changes_and_a_deletion_is_confirmed",
        PAGE + "the_line_of_an_alert_makes_the_same_alert",
    ),
    "kept over restarts": (BOOK + "alerts_are_found_again_exactly_and_the_file_is_private", RINGS),
    "crossed while away, told once with the time": (
        WATCH + "a_crossing_while_the_desk_was_away_is_told_once_with_its_time",
        WATCH + "prices_wait_while_the_stream_was_lost_and_are_judged_after_its_candles",
    ),
    "line and flash, bell, each switchable per kind": (
        DELIVERY + "a_kind_is_delivered_by_its_channels_only",
        DELIVERY + "the_settings_say_what_each_kind_does",
    ),
    "the bell at most once in 2 s": (DELIVERY + "the_bell_rings_at_most_once_in_two_seconds",),
    "OSC 777, 9 and 99": (
        DELIVERY + "each_sequence_as_it_is_written",
        DELIVERY + "the_sequence_is_the_one_that_the_terminal_knows",
    ),
    "wrapped for tmux and screen": (
        DELIVERY + "tmux_and_screen_pass_a_wrapped_sequence_on",
        (
            "tui/terminal/test_notification_in_screen::"
            "test_bell_and_every_kind_of_notification_reach_the_terminal_around_screen"
        ),
    ),
    "a command: arguments, JSON on stdin, time-out, bounded": (
        DELIVERY + "the_command_gets_arguments_and_json_and_no_shell",
        DELIVERY + "a_command_that_hangs_is_killed_with_what_it_started",
        DELIVERY + "a_flood_of_events_starts_a_bounded_number_of_commands",
    ),
    "the mute key": (
        PAGE + "escape_makes_nothing_and_b_mutes",
        DELIVERY + "muted_neither_rings_nor_notifies_and_still_flashes",
    ),
    "fills, stops, rejects, margin, disconnects, limits": (
        DELIVERY + "transactions_are_told_by_kind",
        DELIVERY + "a_lost_connection_is_told_once_until_it_is_back",
    ),
    "keydesk watch --alerts": (HEADLESS,),
}
CARD = "tui/alerts/test_away::test_"
SHOWN = "tui/app/alerts/test_away::test_"
AWAY = {
    "fills, stops, financing, alerts, P/L, gaps": (
        CARD + "the_card_sums_and_lists_what_came_after_what_was_seen",
    ),
    "after a start": (SHOWN + "a_start_shows_what_came_since_the_last_desk_once",),
    "after a reconnect": (SHOWN + "after_a_lost_connection_the_card_has_the_gap",),
    "after a detach": (SHOWN + "the_first_key_after_a_long_time_shows_what_came_meanwhile",),
    "one card, and none of nothing": (
        CARD + "nothing_happened_is_no_card",
        SHOWN + "the_card_waits_for_an_open_form_and_for_a_pause_of_the_keys",
    ),
}
REBUILD = "tui/calc/trade_journal/test_rebuild::test_"
EXCURSIONS = "tui/calc/trade_journal/test_excursions::test_"
LIVE = "tui/trade_journal/test_live::test_"
CACHE = "tui/trade_journal/test_cache::test_"
PART = "tui/trade_journal/test_newest_part::test_"
NOTES = "tui/trade_journal/test_notes_file::test_"
TRADE = "tui/forms/journal/test_trade::test_"
LISTED = "tui/forms/journal/test_trades::test_"
NOTED = "journeys/test_journal::test_a_trade_is_noted_read_on_its_day_and_found_after_a_restart"
PRINTED = (
    "tui/cli/test_journal::"
    "test_a_closed_trade_is_listed_noted_exported_and_the_same_without_its_cache"
)
JOURNAL = {
    "from transactions alone, rebuilt equal after its cache is deleted": (
        LIVE + "followed_by_transactions_it_equals_one_rebuilt_without_its_cache",
        CACHE + "newer_events_are_appended_and_leave_the_file_that_a_rebuild_writes",
    ),
    "initial risk: the first stop within 60 s": (
        REBUILD + "the_initial_risk_is_that_of_the_first_stop_and_later_moves_leave_it",
        REBUILD + "a_stop_counts_as_the_initial_one_within_60_seconds",
    ),
    "MAE and MFE in pips and R": (
        EXCURSIONS + "excursions_in_pips_and_in_r_of_the_first_stops_distance",
        (
            "tui/trade_journal/test_candles::"
            "test_excursions_are_read_from_candles_of_the_closing_side_once"
        ),
        EXCURSIONS + "minutes_are_read_for_a_trade_of_two_hours_and_5_seconds_at_its_ends",
    ),
    "hold time, slippage, spread paid, session, entries and exits on a chart": (
        TRADE + "every_number_is_said_with_its_unit_and_the_chart_shows_the_way",
    ),
    "financing apart from price P/L": (REBUILD + "financing_stands_apart_from_the_price_profit",),
    "scale-ins and partial closes roll up per trade and per position": (
        REBUILD + "partial_closes_stay_one_trade_with_an_average_exit",
        REBUILD + "scale_ins_roll_up_to_one_position_until_it_is_flat",
        LISTED + "g_rolls_trades_up_by_position_and_back_on_the_same_trade",
    ),
    "tags, setup, note, rating, mistake, open or closed, also later": (
        (
            "tui/forms/journal/test_note::"
            "test_each_field_is_written_by_its_key_and_only_changes_are_returned"
        ),
        "tui/app/journal/test_keys::test_n_and_its_command_write_about_the_selected_trade",
        LISTED + "enter_and_n_are_for_the_trade_under_the_cursor",
    ),
    "a note as client extension by choice": (
        (
            "tui/app/journal/test_account_journal::"
            "test_by_choice_the_note_goes_to_the_broker_as_labels_that_y_sends"
        ),
    ),
    "the text of the screen at entry and exit": (
        (
            "tui/trade_journal/test_screens::"
            "test_both_screens_of_a_trade_are_read_again_without_the_accounts_number"
        ),
        TRADE + "screens_are_shown_in_turn_and_hostile_text_only_cleaned",
    ),
    "keydesk journal prints, filters and exports CSV, JSON, Markdown": (PRINTED,),
    "notes in one readable file": (
        NOTES + "the_file_has_one_readable_line_for_each_trade_in_order",
        NOTES + "lines_and_members_that_are_not_known_are_kept",
    ),
    "two desks writing at once lose nothing": (
        NOTES + "two_desks_that_write_at_once_lose_nothing",
        NOTES + "two_desks_and_an_editor_at_once_lose_nothing",
        PART + "two_desks_that_fill_one_cache_lose_nothing",
    ),
}
FIGURES = "tui/calc/trade_journal/test_statistics::test_"
RETURNS = "tui/calc/trade_journal/test_returns::test_"
MAPS = "tui/calc/trade_journal/test_charts::test_"
WHAT_IF = "tui/calc/trade_journal/test_what_if::test_"
STATISTICS_PAGE = "tui/forms/statistics/test_page::test_"
REPORT = "tui/trade_journal/test_report::test_"
STATISTICS = {
    "n, win %, average win and loss, payoff, expectancy, profit factor, recovery, streaks": (
        FIGURES + "the_worked_list_of_ten_results_has_the_figures_of_the_definition",
        FIGURES + "r_figures_rest_on_the_trades_with_a_stop_alone",
        FIGURES + "a_result_of_zero_ends_a_streak",
    ),
    "max drawdown realised and of daily NAV, transfers taken out": (
        RETURNS + "the_drawdown_in_money_and_as_a_share_of_the_peak",
        RETURNS + "a_transfer_is_no_profit_and_no_loss",
        RETURNS + "net_asset_values_count_open_profit_at_the_end_of_the_day",
    ),
    "Sharpe, Sortino": (RETURNS + "the_worked_returns_have_the_ratios_of_the_definition",),
    "SQN": (
        FIGURES + "the_system_quality_counts_at_most_100_trades",
        FIGURES + "results_that_differ_by_rounding_only_do_not_vary",
    ),
    "time in market": (FIGURES + "time_in_market_counts_overlapping_trades_once",),
    "n beside each figure, under 20 grey with the reason": (
        STATISTICS_PAGE + "each_figure_stands_with_its_count_and_grey_ones_with_the_reason",
    ),
    "by instrument, side, session, hour, tag, setup, rating, hold time, size, order, after a loss": (
        "tui/calc/trade_journal/test_groups::test_every_grouping_takes_every_trade",
        "tui/calc/trade_journal/test_groups::test_trades_are_grouped_in_a_natural_order",
        STATISTICS_PAGE + "arrows_change_the_grouping_until_every_one_was_shown",
    ),
    "what-if with the path's ambiguity said": (
        WHAT_IF + "the_first_level_that_the_price_met_ends_the_trade",
        WHAT_IF + "where_the_order_in_a_candle_is_not_known_the_worse_is_taken_and_counted",
        STATISTICS_PAGE + "the_arrows_step_the_rule_of_what_if_and_zero_is_as_it_was",
    ),
    "equity with drawdown, R histogram, MAE against MFE, heat maps": (
        STATISTICS_PAGE + "every_view_fits_every_size",
        MAPS + "the_curve_ends_at_the_total_and_its_deepest_place_is_the_drawdown",
        MAPS + "the_bins_of_the_histogram_count_every_trade_once",
        MAPS + "the_cells_of_either_map_add_up_to_the_totals",
    ),
    "Enter in the calendar opens the day": (
        STATISTICS_PAGE + "enter_in_the_calendar_opens_the_chosen_day_and_w_its_week",
    ),
    "a day page and a week page, printable": (
        REPORT + "the_page_begins_with_result_best_worst_and_what_mistakes_cost",
        "tui/forms/statistics/test_day::test_the_page_has_every_sentence_and_cell_of_the_report",
        "tui/cli/test_journal::test_the_week_page_and_the_statistics_say_what_they_rest_on",
    ),
}
LOG = "tui/panes/test_log_past::test_"
PAST = "tui/feeds/test_past_log::test_"
RELATED = "tui/forms/account/test_transaction::test_"
BACK = (
    "journeys/test_log_history::test_the_log_is_read_back_to_the_first_line_filtered_and_followed"
)
HISTORY = {
    "older lines as one scrolls, back to the first": (
        LOG + "scrolling_loads_older_lines_below_and_the_cursor_stays_on_its_line",
        LOG + "end_goes_to_the_first_transaction_and_home_to_the_newest",
        BACK,
    ),
    "filter by kind, instrument, text, trade": (
        "tui/panes/test_tables_sorted::test_the_log_is_filtered_by_its_words",
        LOG + "a_filter_looks_for_older_lines_and_says_how_far_it_looked",
        BACK,
    ),
    "details with related transactions, both ways": (
        RELATED + "relations_are_opened_and_gone_back_from_at_every_size",
        BACK,
    ),
    "10,000 rows without a hitch": (
        LOG + "a_key_among_sixteen_thousand_lines_formats_the_visible_rows_only",
    ),
    "a million transactions open as fast as a few: the log": (
        PAST + "an_account_of_a_million_transactions_opens_with_the_requests_of_a_small_one",
    ),
    "a million transactions open as fast as a few: the journal with its cache": (
        "tui/trade_journal/test_cache_tail::test_what_is_read_is_in_proportion_to_what_is_wanted",
        "tui/trade_journal/test_cache_tail::test_every_trade_of_the_newest_part_is_as_in_the_whole",
    ),
    "a million transactions open as fast as a few: the journal without a cache": (
        PART + "the_newest_transactions_are_shown_and_said_before_the_others_are_read",
        PART + "an_interruption_loses_one_step_at_most",
        (
            "tui/app/journal/test_newest_part::"
            "test_statistics_are_over_a_part_and_say_so_until_all_is_read"
        ),
    ),
}
DONE = {
    "1. golden vectors": (
        FIGURES + "the_worked_list_of_ten_results_has_the_figures_of_the_definition",
        RETURNS + "the_worked_returns_have_the_ratios_of_the_definition",
    ),
    "1. another library agrees to 1e-9": (
        RETURNS + "another_library_agrees_on_sharpe_sortino_and_drawdown",
    ),
    "1. MAE and MFE by brute force for 500 trades": (
        EXCURSIONS + "the_planned_candles_of_500_trades_give_what_brute_force_gives",
    ),
    "1. P/L and financing are the balance's change": (
        REBUILD + "profit_and_financing_of_the_journal_are_the_change_of_the_balance",
    ),
    "2. rebuilt byte for byte": (
        CACHE + "newer_events_are_appended_and_leave_the_file_that_a_rebuild_writes",
        PART + "filled_the_journal_and_its_cache_equal_those_that_were_read_at_once",
    ),
    "2. a year opens in 1 s, statistics in 200 ms": (
        "bench/test_journal_year::test_opening_a_year_from_its_cache",
        "bench/test_journal_year::test_statistics_over_a_year",
    ),
    "2. progress when longer": (
        STATISTICS_PAGE + "while_the_journal_is_read_the_page_says_how_far",
        (
            "tui/app/journal/test_newest_part::"
            "test_the_list_says_what_part_it_is_and_the_end_key_reads_all"
        ),
    ),
    "3. each fresh crossing exactly once, gaps included": (
        ENGINE + "every_fresh_crossing_is_told_exactly_once_and_none_is_missed",
        ENGINE + "a_crossing_in_the_path_is_never_missed_in_its_candles",
        WATCH + "a_price_that_comes_and_goes_between_two_frames_is_not_missed",
    ),
    "3. kill -9 and restart": (
        BOOK
        + "a_kill_between_claim_and_telling_leaves_it_to_be_told_and_a_told_one_is_not_told_again",
        BOOK + "many_processes_at_once_lose_nothing",
        RINGS,
    ),
    "3. 500 alerts at 1,000 prices a second": (
        "bench/test_alert_cost::test_a_price_with_500_alerts_on_its_instrument",
        "bench/test_alert_cost::test_a_whole_desk_with_500_alerts_beside_the_same_without",
    ),
    "3. hostile names and notes are text": (
        DELIVERY + "hostile_text_ends_no_sequence_and_begins_none",
        DELIVERY + "hostile_text_is_one_argument_and_never_an_option_or_a_place",
        LISTED + "text_from_outside_is_shown_cleaned",
    ),
    "3. bell and OSC on a pty, inside tmux": (
        "journeys/test_alerts::test_bell_and_notification_reach_the_terminal_around_tmux",
    ),
    "4. journeys": (RINGS, NOTED),
    "over SSH and a slow line": (
        "journeys/test_journal_over_ssh::test_a_year_of_trades_is_read_over_a_slow_line",
    ),
    "a full disk, a read-only home: cause and remedy": (
        "tui/text/test_file_errors::test_a_full_disk_is_said_with_the_file_and_the_remedy",
        (
            "tui/text/test_file_errors::"
            "test_a_home_in_which_no_folder_can_be_made_is_the_cause_that_is_said"
        ),
    ),
    "hundreds of alerts after an absence": (
        ENGINE + "blocks_of_candles_that_are_passed_over_change_nothing",
    ),
}
PROMISES = {
    f"{topic}: {promise}": shown
    for topic, rows in {
        "alerts": ALERTS,
        "away card": AWAY,
        "journal": JOURNAL,
        "statistics": STATISTICS,
        "history": HISTORY,
        "done": DONE,
    }.items()
    for promise, shown in rows.items()
}


@pytest.mark.parametrize("promise", PROMISES)
def test_every_promise_has_its_tests(promise: str) -> None:
    assert missing(PROMISES[promise]) == []


ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["journal", "statistics", "calendar", "alerts", "away"])
def test_every_page_has_its_picture_in_three_sizes_and_in_the_docs(name: str) -> None:
    for size in ("80x24", "120x35", "200x50"):
        assert (ROOT / "screenshots" / f"{name}-{size}.svg").exists()
    assert f"{name}-120x35.svg" in (ROOT / "docs" / "pictures.md").read_text()


def test_the_docs_have_a_user_unit_that_watches_alerts() -> None:
    text = (ROOT / "docs" / "alerts.md").read_text()
    assert "[Service]\nExecStart=%h/.local/bin/keydesk watch --alerts" in text
