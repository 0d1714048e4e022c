"""Every row of the guard table and of the accident table, and the tests that show it; the few rows without one elsewhere.

The keys are the rows in short, the values name tests as `folder/file::test`. A row whose test is renamed or removed fails.
"""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from keydesk.app.desk_session import DeskLock
from keydesk.calc.orders.instructions import OpenOrder
from keydesk.forms.ticket.form import TicketForm
from keydesk.store.store import Store
from support.fakes.form_app import FormApp, example_context
from support.fakes.working_desk import WorkingDesk
from support.named_tests import missing

D = Decimal

GUARD = {
    "By or B Enter in one read": (
        "journeys/test_accidents_at_the_keys::test_keys_of_one_read_are_dropped_and_disarm",
        "tui/keys/test_guarded_app::test_a_raw_paste_trips_and_sends_nothing",
    ),
    "the same through tmux": (
        "journeys/test_tmux_warnings::test_synchronized_panes_are_warned_of",
    ),
    "a bracketed By Enter": (
        "journeys/test_accidents_at_the_keys::test_a_bracketed_paste_is_swallowed",
    ),
    "a paste with its end inside": (
        "journeys/test_accidents_at_the_keys::test_a_paste_with_an_end_in_it_sends_nothing",
    ),
    "BBBB, then yyyy": (
        (
            "journeys/test_accidents_at_the_keys::"
            "test_capitals_of_one_read_and_then_send_keys_of_one_read_send_nothing"
        ),
    ),
    "B held, then y": (
        (
            "journeys/test_accidents_at_the_keys::"
            "test_a_held_capital_and_then_the_send_key_send_nothing"
        ),
    ),
    "a blurred window, then B": (
        (
            "journeys/test_accidents_at_the_keys::"
            "test_a_live_desk_is_armed_by_digits_that_it_answers_and_disarmed_by_a_blurred_window"
        ),
    ),
    "B, 0.45 s, y": (
        "journeys/test_accidents_at_the_keys::test_a_hand_sends",
        "journeys/test_first_trade::test_buy_protect_close_and_find_it_again",
    ),
    "B, 250 ms, y": (
        "journeys/test_slips_of_the_hand::test_slips_of_the_hand_are_named_asked_for_or_refused",
        "tui/keys/test_guard::test_a_form_painted_at_once_is_confirmed_from_250_ms_behind_its_key",
    ),
    "B, 0.15 s, y": (
        (
            "journeys/test_accidents_at_the_keys::"
            "test_a_confirm_on_the_heels_of_its_form_is_too_early_and_the_form_says_so"
        ),
        (
            "tui/keys/test_guarded_app::"
            "test_a_confirm_right_behind_the_form_is_too_early_and_the_form_stays"
        ),
    ),
    "a paste that never ends": (
        "journeys/test_accidents_at_the_keys::test_a_paste_that_never_ends_gives_the_keys_back",
    ),
    "held j and arrows, digits typed fast": (
        (
            "journeys/test_accidents_at_the_keys::"
            "test_a_held_arrow_in_a_field_nudges_it_and_disarms_nothing"
        ),
        "journeys/test_slow_line::test_a_held_key_leaves_no_old_pictures_behind_over_ssh",
        "journeys/test_slips_of_the_hand::test_slips_of_the_hand_are_named_asked_for_or_refused",
        "tui/keys/test_guarded_app::test_a_held_j_scrolls",
        "tui/keys/test_guarded_app::test_a_held_arrow_nudges_the_field_and_disarms_nothing",
        "tui/keys/test_guarded_app::test_digits_typed_at_once_fill_the_field",
    ),
}

HERE = "tui/test_accident_tables::"
AT_ONE_DESK = (
    "journeys/test_slips_of_the_hand::test_slips_of_the_hand_are_named_asked_for_or_refused"
)
ON_THE_LINE = (
    "journeys/test_accidents_of_the_line::"
    "test_an_old_price_refuses_a_ticket_and_no_exit_and_a_gap_is_filled"
)
TICKET, TRADES, ORDERS, CHECKS = (
    "tui/forms/ticket/test_ticket::",
    "tui/forms/trades/test_trades::",
    "tui/forms/trades/test_orders::",
    "tui/calc/orders/test_checks::",
)
AT_THE_BROKER = "tui/trading/test_accidents_at_the_broker::"
KEYS, AT_THE_KEYS = "tui/keys/test_guarded_app::", "journeys/test_accidents_at_the_keys::"
ACCIDENTS = {
    "fat finger size": (
        AT_ONE_DESK,
        "tui/calc/orders/test_order_parser::test_a_size",
        CHECKS + "test_own_limits_refuse",
        CHECKS + "test_the_moment_may_ask_for_a_letter",
        "tui/store/test_risk::test_the_usual_size_is_the_median_of_the_newest_trades",
        HERE + "test_the_size_of_a_ticket_is_the_preset_again_after_another_one_was_typed",
    ),
    "fat finger price": (
        AT_ONE_DESK,
        CHECKS + "test_what_could_hurt_asks_for_a_letter",
        CHECKS + "test_what_cannot_be_meant_is_refused_with_its_reason",
    ),
    "buy for sell": (
        AT_ONE_DESK,
        HERE + "test_no_key_turns_the_side_of_a_ticket",
    ),
    "wrong instrument": (
        HERE + "test_a_ticket_stays_with_its_instrument_when_another_one_is_looked_at",
        "journeys/test_positions::test_a_glance_at_another_pane_leaves_the_ticket_with_its_instrument",
    ),
    "wrong account": (
        (
            "journeys/test_accidents_at_the_keys::"
            "test_a_live_desk_is_armed_by_digits_that_it_answers_and_disarmed_by_a_blurred_window"
        ),
        "tui/app/test_account_sources::test_a_token_goes_to_the_host_of_its_environment_only",
        "tui/app/test_account_sources::test_the_account_must_be_the_token_s",
        TICKET + "test_a_live_account_is_named_in_the_frame",
        ORDERS + "test_live_is_armed_by_three_digits_of_the_account",
    ),
    "double submit": (
        AT_ONE_DESK,
        "tui/trading/test_commands::test_the_same_order_is_remembered_for_ten_seconds",
        "tui/trading/test_commands::test_two_orders_at_once_in_an_instrument_become_one",
    ),
    "key held": (
        AT_THE_KEYS + "test_a_held_capital_and_then_the_send_key_send_nothing",
        "tui/keys/test_guard::test_a_held_order_key_trips_when_the_repeat_sets_in",
        ORDERS + "test_a_second_capital_x_does_not_flatten",
    ),
    "stuck Shift, Caps Lock, Ctrl, Alt": (
        AT_ONE_DESK,
        KEYS + "test_three_capitals_ask_for_caps_lock_and_a_foreign_letter_for_the_layout",
        TICKET + "test_enter_space_and_capitals_send_nothing",
        KEYS + "test_escape_and_a_key_in_one_drops_the_form",
    ),
    "paste": (
        KEYS + "test_a_bracketed_paste_closes_the_ticket_and_disarms",
        (
            "journeys/test_command_line::"
            "test_a_pasted_order_waits_for_enter_and_then_for_its_own_confirmation"
        ),
    ),
    "paste without end": (
        AT_THE_KEYS + "test_a_paste_that_never_ends_gives_the_keys_back",
        "journeys/test_second_login::test_status_flatten_and_lock_reach_the_market_of_the_open_desk",
    ),
    "tmux": (
        "journeys/test_tmux_warnings::test_synchronized_panes_are_warned_of",
        "journeys/test_tmux_warnings::test_a_second_client_is_warned_of",
    ),
    "stale price": (
        ON_THE_LINE,
        "tui/trading/test_commands::test_an_old_price_is_read_again_before_anything_opens_on_it",
        TICKET + "test_an_old_price_that_could_not_be_read_again_refuses_and_says_why",
        "tui/calc/orders/test_ticket::test_a_market_order_is_bounded_by_two_spreads",
    ),
    "price ran": (
        (
            AT_THE_BROKER
            + "test_a_price_that_ran_between_preview_and_key_asks_once_more_and_fills_at_the_new_one"
        ),
        (
            AT_THE_BROKER
            + "test_a_price_that_ran_between_key_and_broker_is_not_filled_beyond_the_bound"
        ),
        TICKET + "test_a_price_that_ran_under_the_hand_asks_once_more",
        "tui/trading/test_commands::test_a_price_that_left_the_bound_is_not_sent",
    ),
    "line dies with an order in flight": (
        (
            "journeys/test_over_ssh::"
            "test_a_line_that_dies_with_an_order_in_flight_ends_the_desk_within_two_seconds"
        ),
        "journeys/test_leaving::test_leaving_leaves_nothing_behind",
        "chaos/test_orders_by_keyboard::test_some_orders_by_keyboard_and_a_kill",
    ),
    "network lost with an order in flight": (
        (
            "tui/trading/test_outcome_text::"
            "test_unconfirmed_is_never_called_failed_and_asks_to_look_first"
        ),
        (
            "tui/trading/test_in_flight::"
            "test_an_unconfirmed_command_of_any_kind_locks_the_ticket_of_its_instrument"
        ),
        "chaos/test_orders_by_keyboard::test_some_orders_by_keyboard_and_a_kill",
    ),
    "gap in the transactions": (
        ON_THE_LINE,
        "client/test_sequencer::test_a_gap_is_filled_range_by_range",
        "tui/feeds/test_account::test_an_unknown_transaction_makes_the_account_be_read_again",
    ),
    "429": (
        (
            AT_THE_BROKER
            + "test_an_order_that_is_throttled_is_not_sent_and_can_be_sent_again_prices_go_on"
        ),
        "client/streams/test_prices::test_the_retry_after_of_a_429_is_respected",
        "client/http/test_limiter::test_exits_get_through_while_every_other_call_hangs",
    ),
    "flatten leaves something": (
        "journeys/test_second_login::test_status_flatten_and_lock_reach_the_market_of_the_open_desk",
        "tui/trading/test_commands::test_flatten_closes_cancels_looks_again_and_says_flat",
        (
            "tui/cli/test_out_of_band::"
            "test_flatten_never_calls_an_account_flat_whose_trades_cannot_be_read"
        ),
    ),
    "protection cancelled by accident": (
        AT_ONE_DESK,
        ORDERS + "test_z_leaves_protection_alone_and_says_so",
        TRADES + "test_what_is_not_touched_is_left_alone",
        "tui/trading/test_order_requests::test_left_alone_taken_away_and_moved_are_three_different_things",
    ),
    "break-even fires at once": (
        AT_ONE_DESK,
        TRADES + "test_break_even_refuses_what_would_fire_now",
        TRADES + "test_a_stop_that_would_fire_is_refused",
    ),
    "rounding of a part": (
        AT_ONE_DESK,
        TRADES + "test_a_part_below_one_unit_offers_the_whole",
        "tui/calc/risk/test_sizing::test_a_part_is_rounded_down",
    ),
    "hedging or netting": (
        AT_ONE_DESK,
        "tui/calc/risk/test_trading_context::test_a_hedging_account_opens_the_other_side_instead",
        TICKET + "test_more_than_the_position_turns_it_and_has_a_bracket_again",
    ),
    "daily loss": (
        "journeys/test_daily_loss::test_the_lock_is_reached_held_over_a_restart_and_released",
    ),
    "a guard blocks the exit": (
        AT_ONE_DESK,
        ON_THE_LINE,
        "journeys/test_limits_page::test_a_limit_set_on_the_page_refuses_the_next_ticket_and_no_exit",
        "tui/forms/trades/test_exits_are_never_refused::test_no_guard_lock_or_limit_refuses_an_exit",
        (
            "tui/trading/test_commands::"
            "test_an_exit_goes_through_disarmed_with_no_price_and_an_order_in_flight"
        ),
    ),
    "rounding drift": (
        (
            "tui/calc/orders/test_preview_equals_broker::"
            "test_what_the_preview_says_is_what_the_broker_does"
        ),
        (
            "tui/app/test_random_session::"
            "test_a_minute_of_random_trading_shows_the_brokers_figures_at_every_poll"
        ),
    ),
    "clock wrong": (
        (
            AT_THE_BROKER
            + "test_on_a_machine_whose_clock_is_years_off_an_expiry_counts_from_the_brokers_time"
        ),
        "tui/panes/test_strips::test_a_clock_that_is_off_by_more_than_two_seconds_is_a_warning",
        "tui/feeds/test_streams_prices::test_a_heartbeat_is_a_sign_of_life_and_tells_the_time",
        "tui/cli/test_doctor::test_a_clock_that_is_off_by_more_than_two_seconds_is_wrong",
    ),
    "secrets": (
        (
            "journeys/test_accidents_at_the_keys::"
            "test_a_live_desk_is_armed_by_digits_that_it_answers_and_disarmed_by_a_blurred_window"
        ),
        "tui/trading/test_audit::test_the_token_is_in_no_field_of_any_entry",
        (
            "tui/app/test_practice_broker::"
            "test_the_token_is_in_no_argument_and_no_environment_of_the_child"
        ),
    ),
    "hostile text": (
        (
            "journeys/test_hostile_text::"
            "test_no_pane_form_or_message_passes_a_control_sequence_of_the_server_on"
        ),
        (
            "tui/cli/test_account_access::"
            "test_trades_are_exported_open_and_closed_and_no_cell_is_a_formula"
        ),
    ),
    "few colours, 80x24": (
        "journeys/test_over_ssh::test_prices_stay_visible_around_a_form_in_few_colours_and_in_ascii",
        TICKET + "test_the_worst_ticket_is_whole_on_eighty_by_twenty_four",
    ),
}


@pytest.mark.parametrize(("row", "tests"), [*GUARD.items(), *ACCIDENTS.items()])
def test_every_row_has_its_tests(row: str, tests: tuple[str, ...]) -> None:
    assert missing(tests) == [], row


async def test_no_key_turns_the_side_of_a_ticket() -> None:
    app = FormApp(lambda: TicketForm(example_context(), "BUY", "EUR_USD"))
    async with app.run_test(size=(80, 24)) as pilot:
        for key in "SBRoupstrewbmnjk-=,.+12345":
            await pilot.press(key)
            assert isinstance(app.screen, TicketForm)
            assert app.screen.draft.side == "BUY"
            assert "SELL" not in app.words
    assert app.results == []


async def test_the_size_of_a_ticket_is_the_preset_again_after_another_one_was_typed(
    tmp_path: Path,
) -> None:
    app = WorkingDesk(DeskLock.of(tmp_path, "practice"))
    app.store.trades, app.store.positions = {}, {}
    async with app.run_test(size=(120, 35)) as pilot:
        app.draw()
        await pilot.press("B", "u", *"2000")
        app.draw()
        await pilot.press("y")
        await pilot.press("B")
        app.draw()
        form = app.screen
        assert isinstance(form, TicketForm)
        typed, preset = app.decided[0], form.draft.size.text
    assert isinstance(typed, OpenOrder)
    assert typed.units == D(2000)
    assert preset == "10000"


async def test_a_ticket_stays_with_its_instrument_when_another_one_is_looked_at() -> None:
    context = example_context()
    store: Store = context.store
    app = FormApp(lambda: TicketForm(replace(context), "BUY", "EUR_USD"))
    async with app.run_test(size=(80, 24)) as pilot:
        store.set_focus("USD_JPY")
        await pilot.press("y")
    [order] = app.results
    assert isinstance(order, OpenOrder)
    assert order.instrument == "EUR_USD"
