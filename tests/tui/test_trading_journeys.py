"""What a trader does on the desk, by topic, and the journeys at a real terminal that show it: the main way and the main refusal;
then each sentence of what tickets, limits, management, pages and logs must do, with the tests that show it.

The values name tests as `folder/file::test`. A row whose test is renamed or removed fails.
"""

import pytest

from support.named_tests import missing

SLIPS = "journeys/test_slips_of_the_hand::test_slips_of_the_hand_are_named_asked_for_or_refused"
REFUSED = (
    "journeys/test_refused_by_the_broker::"
    "test_a_refusal_is_on_its_field_and_labels_and_margin_rate_are_changed"
)
PAGES = "journeys/test_pages::test_what_is_held_is_seen_on_its_pages_and_an_empty_page_says_why"
LOSS = "journeys/test_daily_loss::test_the_lock_is_reached_held_over_a_restart_and_released"
TEMPLATES = (
    "journeys/test_templates_and_close_order::"
    "test_a_template_opens_each_order_closes_and_reverse_turns"
)
PLANS = "journeys/test_exit_plans::"
WEEK_END = (
    "journeys/test_week_end::"
    "test_a_trade_without_a_stop_is_named_on_friday_and_a_halted_instrument_opens_nothing"
)
MAIN_WAYS = {
    "positions and trades": (
        "journeys/test_positions::test_keys_of_one_trade_say_which_they_mean_and_c_and_o_close_the_position",
        TEMPLATES,
    ),
    "daily loss and limits": (LOSS,),
    "ticket": (
        "journeys/test_ticket_members::test_an_order_with_expiry_guarantee_and_tag_rests_and_is_moved",
        "journeys/test_command_line::test_a_typed_order_is_previewed_and_rests_once_it_is_sent",
        TEMPLATES,
    ),
    "management": (
        "journeys/test_scale_out::test_a_scale_out_is_shown_refused_and_sent",
        "journeys/test_first_trade::test_buy_protect_close_and_find_it_again",
        REFUSED,
    ),
    "exit plans": (
        PLANS + "test_a_plan_is_set_seen_refused_and_taken_away",
        PLANS + "test_a_time_stop_is_carried_out_by_the_next_desk_after_a_kill",
    ),
    "seeing risk": (
        PAGES,
        "journeys/test_ticket_members::test_the_pages_of_account_and_exposure_open_by_their_chords",
        "journeys/test_slow_line::test_tables_are_sorted_filtered_and_read_by_held_keys_over_ssh",
    ),
    "sessions": (PAGES, WEEK_END),
    "order life": (PAGES,),
    "audit": (LOSS,),
}
REFUSALS = {
    "positions and trades": (
        "journeys/test_positions::test_keys_of_one_trade_say_which_they_mean_and_c_and_o_close_the_position",
        "journeys/test_leaving::test_ctrl_c_twice_asks_about_a_trade_without_a_stop_first",
    ),
    "daily loss and limits": (
        LOSS,
        "journeys/test_limits_page::test_a_limit_set_on_the_page_refuses_the_next_ticket_and_no_exit",
    ),
    "ticket": (SLIPS, REFUSED),
    "management": (SLIPS, "journeys/test_scale_out::test_a_scale_out_is_shown_refused_and_sent"),
    "exit plans": (PLANS + "test_a_plan_is_set_seen_refused_and_taken_away",),
    "seeing risk": (PAGES, "journeys/test_mini_desk::test_a_trade_is_closed_at_forty_by_twelve"),
    "sessions": (WEEK_END,),
    "order life": (
        (
            "journeys/test_positions::"
            "test_a_close_that_an_earlier_session_left_unconfirmed_locks_the_ticket"
        ),
        "journeys/test_second_desk::test_a_fill_that_nobody_saw_is_told_at_the_next_start_and_only_there",
    ),
    "audit": (
        (
            "journeys/test_accidents_at_the_keys::"
            "test_a_live_desk_is_armed_by_digits_that_it_answers_and_disarmed_by_a_blurred_window"
        ),
        "tui/trading/test_audit::test_the_token_is_in_no_field_of_any_entry",
    ),
}

CLOSE_ORDER, CLOSE_POSITION = (
    "tui/forms/trades/test_close_order::",
    "tui/forms/trades/test_close_position::",
)
TRADES, ORDERS, MODIFY = (
    "tui/forms/trades/test_trades::",
    "tui/forms/trades/test_orders::",
    "tui/forms/trades/test_modify_stops::",
)
TICKET, MEMBERS, PREVIEW, OF_TEMPLATES = (
    "tui/forms/ticket/test_ticket::",
    "tui/forms/ticket/test_ticket_members::",
    "tui/forms/ticket/test_ticket_preview::",
    "tui/forms/ticket/test_ticket_templates::",
)
RANGES, UNREADABLE = "tui/forms/ticket/test_average_range::", "tui/forms/test_unreadable::"
LIMITS, CHECKS, PAGE = (
    "tui/calc/orders/test_limits::",
    "tui/calc/orders/test_checks::",
    "tui/forms/account/test_limits::",
)
DAILY, LOCK = "tui/calc/test_daily_loss::", "tui/app/test_loss_lock::"
SCALE_OUT, RULES = (
    "tui/calc/orders/plans/test_scale_out::",
    "tui/calc/orders/plans/test_exit_plans::",
)
KEEPING, AT_BROKER = "tui/trading/test_exit_plans::", "tui/trading/test_exit_plans_at_broker::"
ACCOUNT, SORTED, SESSIONS = (
    "tui/forms/account/test_pages::",
    "tui/panes/test_tables_sorted::",
    "tui/forms/account/test_sessions::",
)
LIFE, LIFE_PAGE = "tui/trading/test_order_history::", "tui/forms/account/test_order_history::"
AUDIT, AUDIT_PAGE = "tui/trading/test_audit::", "tui/forms/account/test_audit::"
TEMPLATE_FILES, DISPATCHER = "tui/config/test_templates::", "tui/trading/test_dispatcher::"
COMMANDS = "tui/trading/test_commands::"
CLAUSES = {
    # Positions and trades.
    "a position closes as a position, both sides where it is hedged": (
        COMMANDS + "test_a_position_of_several_trades_closes_in_one_order",
        COMMANDS + "test_both_sides_of_a_hedged_position_close_and_both_are_told",
        CLOSE_POSITION + "test_a_hedged_position_closes_both_sides_or_the_one_chosen",
    ),
    "oldest, newest, worst, best or picked trades": (
        CLOSE_ORDER + "test_the_order_in_which_trades_close",
        CLOSE_ORDER + "test_a_part_closes_the_trades_of_the_order_that_is_chosen",
        CLOSE_ORDER + "test_nothing_picked_closes_nothing",
    ),
    "trade 1 of 2, and the choice of another": (
        CLOSE_ORDER + "test_one_of_several_trades_says_which_and_turns_to_the_next",
        "journeys/test_positions::test_keys_of_one_trade_say_which_they_mean_and_c_and_o_close_the_position",
    ),
    "a reversal checks order size and margin": (
        CLOSE_ORDER + "test_a_reversal_that_the_broker_would_refuse_is_refused_and_says_the_way",
        CLOSE_ORDER + "test_a_reversal_without_the_margin_for_it_is_refused",
    ),
    "a reversal carries the trail of the template": (
        CLOSE_ORDER + "test_a_reversal_carries_the_trailing_stop_of_the_template",
        TEMPLATES,
    ),
    "break-even counts commission and guaranteed-stop fees": (
        TRADES + "test_break_even_covers_commission_and_fees",
        (
            "tui/store/test_risk::"
            "test_a_break_even_counts_commission_both_ways_and_the_fee_of_a_guaranteed_stop"
        ),
    ),
    "quitting with an unprotected trade asks once": (
        "journeys/test_leaving::test_ctrl_c_twice_asks_about_a_trade_without_a_stop_first",
        "tui/forms/account/test_leaving::test_the_trades_without_a_stop_are_named",
        "tui/app/test_leaving::test_without_an_unprotected_trade_the_second_ctrl_c_leaves",
    ),
    # Daily loss and limits.
    "the day begins at 17:00 New York, from transactions": (
        "tui/calc/market/test_trading_day::test_a_day_begins_at_five_in_new_york",
        "tui/calc/market/test_trading_day::test_the_start_is_counted_back_from_the_balance",
        LOCK + "test_without_its_file_the_loss_itself_locks",
    ),
    "the lock survives restarts": (
        LOSS,
        LOCK + "test_a_restart_holds_the_lock_although_the_loss_is_smaller_now",
    ),
    "two desks have one lock": (
        LOCK + "test_another_desk_on_the_account_is_locked_with_the_first",
    ),
    "70 and 90 percent, exit-only at the limit": (
        DAILY + "test_each_warning_comes_once_and_the_limit_locks",
        DAILY + "test_a_cent_below_the_limit_does_not_lock",
        LOCK + "test_at_the_limit_the_desk_is_exit_only_and_says_why",
    ),
    "the early unlock, logged": (
        LOSS,
        DAILY + "test_an_early_unlock_waits_ten_minutes_and_then_allows_one_limit_more",
        LOCK + "test_an_early_unlock_survives_a_restart_and_is_recorded",
    ),
    "open risk": (
        LIMITS + "test_open_risk_counts_what_is_open_and_refuses_beside_a_trade_without_a_stop",
    ),
    "open trades": (LIMITS + "test_entry_orders_and_open_trades_count_together",),
    "spread in pips and against the stop, deviation, units, notional": (
        LIMITS + "test_a_hard_limit_refuses_what_is_over_it_and_names_value_and_remedy",
        LIMITS + "test_a_wide_spread_asks_for_a_letter",
        LIMITS + "test_a_pending_order_far_from_the_market_is_refused",
        LIMITS + "test_an_entry_many_days_ranges_from_the_market_asks_for_a_letter",
    ),
    "limits per instrument": (
        LIMITS + "test_the_limits_of_the_instrument_replace_those_of_the_account",
        PAGE + "test_an_instrument_has_limits_of_its_own_over_those_of_the_account",
    ),
    "a pause after losses in a row": (
        LIMITS + "test_losses_are_counted_back_to_the_last_win",
        LIMITS + "test_after_a_row_of_losses_only_exits_are_sent_for_a_while",
    ),
    "limits in the file and on the page": (
        LIMITS + "test_every_limit_has_words_and_every_member_is_on_the_page",
        "tui/config/test_limits::test_a_change_is_read_again_as_it_was_made",
        PAGE + "test_digits_set_a_limit_and_enter_keeps_it",
        PAGE + "test_what_is_no_limit_is_refused_with_its_name",
    ),
    "no guard, lock or limit refuses an exit": (
        "tui/forms/trades/test_exits_are_never_refused::test_no_guard_lock_or_limit_refuses_an_exit",
        "tui/forms/trades/test_exits_are_never_refused::test_the_walk_has_every_exit",
    ),
    # Ticket.
    "every member that the wire has": (
        MEMBERS + "test_every_member_is_typed_shown_and_sent",
        MEMBERS + "test_all_members_fit_a_small_terminal",
    ),
    "an expiry with a typed time": (
        "tui/calc/orders/test_expiry_time::test_a_typed_expiry",
        "tui/calc/orders/test_expiry_time::test_what_is_no_time_says_how_to_write_one",
        "journeys/test_ticket_members::test_an_order_with_expiry_guarantee_and_tag_rests_and_is_moved",
    ),
    "a guaranteed stop with its premium": (
        MEMBERS + "test_a_guaranteed_stop_is_sized_with_its_premium",
    ),
    "a trailing stop by ATR": (
        RANGES + "test_a_trailing_stop_is_set_at_ranges",
        "tui/calc/orders/test_average_range::test_target_and_trailing_stop_count_in_ranges_too",
    ),
    "a size by money, value, percent of margin, and by steps": (
        MEMBERS + "test_a_size_counts_in_money_value_or_margin",
        MEMBERS + "test_equals_and_minus_step_the_size",
    ),
    "the price is prefilled": (MEMBERS + "test_a_typed_price_stays_when_the_type_turns",),
    "the side never flips": ("tui/test_accident_tables::test_no_key_turns_the_side_of_a_ticket",),
    "swap per day and until Friday": (
        PREVIEW + "test_the_swap_says_the_days_that_are_charged_next_unless_it_is_one",
        "tui/calc/risk/test_financing::test_fifty_thousand_euros_held_long",
    ),
    "exposure and open risk before and after": (
        PREVIEW + "test_a_narrow_ticket_has_the_detail_on_a_line_that_goes_first",
        (
            "tui/calc/orders/test_preview_equals_broker::"
            "test_what_the_preview_says_is_what_the_broker_does"
        ),
    ),
    "weekend and rollover warnings": (
        "tui/calc/risk/test_financing::test_the_last_hour_of_the_week_is_told",
        CHECKS + "test_the_moment_may_ask_for_a_letter",
        "tui/calc/risk/test_financing::test_rollover_is_at_five_in_new_york_in_winter_and_summer",
    ),
    "a reject lands on its field in words": (
        "tui/store/test_reject_reason_text::test_every_reason_has_words",
        "tui/store/test_reject_reason_text::test_a_reason_names_the_field_that_it_is_about",
        "tui/trading/test_commands_refused_tickets::test_the_next_ticket_opens_as_typed_on_that_field",
        REFUSED,
    ),
    "named templates with every rule, and one for each instrument": (
        TEMPLATE_FILES + "test_a_template_has_every_rule_of_a_ticket",
        OF_TEMPLATES + "test_a_ticket_opens_with_the_instruments_template",
        OF_TEMPLATES + "test_the_next_template_begins_again_and_keeps_side_and_instrument",
        OF_TEMPLATES + "test_a_required_stop_refuses_a_ticket_without_one",
    ),
    "import and export": (
        TEMPLATE_FILES + "test_what_is_exported_is_imported_and_the_rest_of_the_file_stays",
        TEMPLATE_FILES + "test_a_hostile_file_is_refused_by_its_field_and_nothing_is_written",
    ),
    # Management.
    "modify shows R": (TRADES + "test_the_stop_is_tightened_by_three_nudges", SLIPS),
    "units and trail of entry orders": (
        "tui/forms/trades/test_move_order::test_units_are_changed_and_all_else_is_left_alone",
        "tui/forms/trades/test_move_order::test_a_trailing_stop_is_added_changed_and_removed",
    ),
    "every dependent, the guaranteed stop too": (
        MODIFY + "test_a_guaranteed_stop_is_moved_and_loosening_it_asks_for_a_letter",
        MODIFY + "test_a_guaranteed_stop_stands_alone_and_its_premium_is_shown",
        TRADES + "test_a_trailing_stop_comes_beside_the_stop",
    ),
    "left alone, changed and removed are seen": (
        MODIFY + "test_a_guaranteed_stop_stands_alone_and_its_premium_is_shown",
        "tui/forms/trades/test_move_order::test_a_protection_that_is_taken_away_says_so",
        "tui/trading/test_order_requests::test_left_alone_taken_away_and_moved_are_three_different_things",
    ),
    "scale-out plans of real orders at the broker": (
        SCALE_OUT + "test_each_step_has_units_target_and_money_and_the_rest_trails",
        "tui/trading/test_scale_out::test_every_part_is_a_trade_with_its_own_orders_at_the_broker",
        "journeys/test_scale_out::test_a_scale_out_is_shown_refused_and_sent",
    ),
    "break-even with an offset": (MODIFY + "test_pips_beyond_break_even_are_set_by_key",),
    "labels, account name and margin rate with their effect first": (
        "tui/forms/account/test_configure::test_the_effect_of_a_rate_stands_there_before_the_letter_sends_it",
        "tui/forms/trades/test_labels::test_only_what_was_typed_is_changed",
        REFUSED,
    ),
    # Exit plans.
    "break-even at x R, step trail, time stop": (
        RULES + "test_at_the_profit_the_stop_goes_to_break_even_and_not_a_pip_before",
        RULES + "test_the_stop_follows_in_steps",
        RULES + "test_at_its_time_the_trade_is_closed_whatever_the_price",
    ),
    "a rule of the template for each trade": (
        OF_TEMPLATES + "test_the_templates_exit_plan_is_shown_and_goes_with_the_order",
        TEMPLATE_FILES + "test_a_template_has_an_exit_plan",
    ),
    "a plan only reduces risk": (
        RULES + "test_over_any_path_a_stop_only_comes_nearer_and_never_fires_by_being_set",
        RULES + "test_a_nearer_stop_of_any_kind_is_left_alone",
    ),
    "a plan is kept and goes on after a restart": (
        AT_BROKER + "test_a_plan_goes_on_after_a_restart",
        PLANS + "test_a_time_stop_is_carried_out_by_the_next_desk_after_a_kill",
    ),
    "each action is audited": (
        AT_BROKER + "test_the_stop_is_moved_once_and_the_action_is_told_and_audited",
    ),
    "the screen says that plans run only while Keydesk does": (
        "tui/forms/trades/test_exit_plan::test_the_form_says_that_a_plan_runs_only_while_keydesk_does",
    ),
    "a plan through a silent host": (
        KEEPING + "test_stale_prices_move_no_stop_but_hold_no_time_stop_up",
        KEEPING + "test_after_an_unconfirmed_action_nothing_is_sent_until_it_is_resolved",
    ),
    # Seeing risk.
    "every field of account and summary": (
        ACCOUNT + "test_every_member_that_the_broker_sent_is_shown_in_words",
        ACCOUNT + "test_the_account_page_has_figures_counts_and_the_distance_to_the_closeout",
    ),
    "day, week and month": (
        ACCOUNT + "test_day_week_and_month_have_what_was_realized_and_financed",
        "tui/calc/risk/test_period_profit::test_periods_begin_at_five",
    ),
    "exposure in units, home and share of NAV, with bars": (
        ACCOUNT + "test_exposure_has_units_home_share_and_adds_up_to_nothing",
        ACCOUNT + "test_a_bar_goes_to_its_side",
    ),
    "correlation and effective risk": (
        ACCOUNT + "test_correlation_is_grey_with_too_few_hours_and_loud_where_both_lose",
        "tui/calc/risk/test_exposure_correlation::test_the_worked_effective_risk",
    ),
    "if all stops are hit": (
        ACCOUNT + "test_the_result_at_all_stops_has_trailing_and_guaranteed_ones",
    ),
    "positions show pips, R and risk": (
        SORTED + "test_positions_have_weighted_entry_pips_r_and_risk",
    ),
    "trades show distances, tag and groups with a weighted average": (
        SORTED + "test_the_distances_are_those_of_the_closing_price",
        SORTED + "test_a_tag_is_shown_where_there_is_room",
        SORTED + "test_groups_stand_together_under_their_sums",
        "tui/calc/risk/test_trade_groups::test_the_entry_is_weighted_by_units",
    ),
    "filter and sort in all tables": (
        SORTED + "test_every_column_sorts_both_ways_without_losing_a_row",
        SORTED + "test_letters_leave_the_trades_that_have_them",
        SORTED + "test_the_log_is_filtered_by_its_words",
        "tui/panes/test_watch_order::test_every_column_sorts_and_the_unknown_stays_last",
    ),
    "the instrument page has units and words": (
        ACCOUNT + "test_the_instrument_page_has_a_unit_for_every_number",
    ),
    # Sessions.
    "sessions, rollover and week end with countdowns": (
        SESSIONS + "test_every_session_is_shown_with_its_countdown",
        "tui/calc/market/test_sessions::test_the_rollover_is_at_five_in_new_york",
    ),
    "halted and closed instruments say when they open": (
        SESSIONS + "test_a_halted_instrument_says_when_it_opens",
        "tui/calc/market/test_sessions::test_a_closed_instrument_says_when_it_opens",
    ),
    "Friday's list of trades without stops": (
        SESSIONS + "test_on_friday_trades_without_a_stop_are_named_once_a_week",
    ),
    "the practice market at a weekend": (
        SESSIONS + "test_a_market_that_trades_at_the_weekend_says_that_it_is_practice",
    ),
    # Order life.
    "what is not resolved stays": (
        DISPATCHER + "test_unconfirmed_stays_on_the_screen_until_it_shows_up",
        LIFE + "test_an_order_without_an_outcome_is_first_however_old",
    ),
    "a page with the journal's lines and what to do": (
        LIFE_PAGE + "test_an_open_order_is_first_with_what_to_do",
        LIFE + "test_the_audit_log_adds_times_look_ups_and_the_outcome",
    ),
    "slippage and time to acknowledge of each instrument": (
        LIFE_PAGE + "test_v_shows_slippage_and_times_by_instrument",
        DISPATCHER + "test_slippage_and_the_time_to_acknowledge_are_kept",
    ),
    # Audit.
    "keys, previews, confirmations, guard, arming, requests, outcomes, limits, settings": (
        "journeys/test_limits_page::test_a_limit_set_on_the_page_refuses_the_next_ticket_and_no_exit",
        SLIPS,
        LOSS,
        DISPATCHER + "test_what_was_sent_and_what_became_of_it_is_in_the_audit_log",
    ),
    "one JSON line for each entry, no secret": (
        AUDIT + "test_every_entry_is_one_json_line_that_only_the_owner_reads",
        AUDIT + "test_the_token_is_in_no_field_of_any_entry",
    ),
    "a viewer with a filter": (
        AUDIT_PAGE + "test_letters_filter_and_arrows_choose",
        AUDIT + "test_the_filter_wants_every_word_and_may_name_the_kind",
    ),
    # Done when.
    "1: main way and main refusal in a terminal": (
        "tui/test_trading_journeys::test_every_topic_has_its_main_way_and_its_main_refusal",
    ),
    "2: 2,000 tickets, none with a field that cannot be sent": (
        (
            "tui/calc/orders/test_preview_equals_broker::"
            "test_what_two_thousand_previews_say_is_what_the_broker_does"
        ),
        (
            UNREADABLE
            + "test_no_ticket_with_an_unreadable_field_can_be_sent_and_no_typed_field_is_left_out"
        ),
        UNREADABLE + "test_an_empty_field_that_is_required_refuses_the_send",
        MEMBERS + "test_a_contradiction_refuses_and_names_the_field",
    ),
    "3: 500 deals by keyboard, 50 kills": (
        "chaos/test_orders_by_keyboard::test_five_hundred_orders_by_keyboard_and_fifty_kills",
        "chaos/test_orders_by_keyboard::test_some_orders_by_keyboard_and_a_kill",
    ),
    "4: half an hour of polls, both kinds of account": (
        (
            "tui/app/test_random_session::"
            "test_half_an_hour_of_random_trading_shows_the_brokers_figures_at_every_poll"
        ),
    ),
    "5: twelve tasks, accident table, guard table, 250 ms": (
        "tui/screens/test_twelve_tasks::test_every_task_is_there",
        "tui/test_accident_tables::test_every_row_has_its_tests",
        "tui/keys/test_guard::test_a_form_painted_at_once_is_confirmed_from_250_ms_behind_its_key",
        SLIPS,
    ),
    "6: the lock is reached, held, released by clock and early": (
        LOSS,
        DAILY + "test_the_lock_is_released_at_five_in_new_york",
    ),
}


@pytest.mark.parametrize("clause", CLAUSES)
def test_every_clause_has_its_tests(clause: str) -> None:
    assert missing(CLAUSES[clause]) == []


@pytest.mark.parametrize("topic", MAIN_WAYS)
def test_every_topic_has_its_main_way_and_its_main_refusal(topic: str) -> None:
    assert missing((*MAIN_WAYS[topic], *REFUSALS[topic])) == []
