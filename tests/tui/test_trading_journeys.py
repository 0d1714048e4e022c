"""What a trader does on the desk, by topic, and the journeys at a real terminal that show it: the main way and the main refusal.

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
        "journeys/test_positions::test_the_position_is_what_c_and_o_close",
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
        "journeys/test_positions::test_keys_of_a_single_trade_say_which_of_several_they_mean",
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


@pytest.mark.parametrize("topic", MAIN_WAYS)
def test_every_topic_has_its_main_way_and_its_main_refusal(topic: str) -> None:
    assert missing((*MAIN_WAYS[topic], *REFUSALS[topic])) == []
