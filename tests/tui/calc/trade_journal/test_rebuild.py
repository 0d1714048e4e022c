from decimal import Decimal

import pytest
from hypothesis import given, settings

from keydesk.calc.trade_journal.rebuild import rebuild, split
from keydesk.calc.trade_journal.trades import roll_up
from keydesk.trade_journal.reading import events_of
from keydesk_practice.engine.commands import (
    ClientExtensions,
    ClosePosition,
    CloseTrade,
    Finance,
    GuaranteedStopLossDetails,
    SetDependents,
    SetTradeExtensions,
    StopLossDetails,
    TrailingStopLossDetails,
    TransferFunds,
)
from keydesk_practice.engine.state.account import Terms
from support.examples import examples
from support.journal_history import HISTORIES, TERMS, Step, journal_of, play, transactions_of
from support.practised_account import PractisedAccount
from support.walks import sampled

D = Decimal
STOP = StopLossDetails(distance=D("0.0020"))


@pytest.mark.parametrize("terms", sampled(TERMS, 1))
@settings(max_examples=examples(20, soak=300), deadline=None)
@given(history=HISTORIES)
def test_profit_and_financing_of_the_journal_are_the_change_of_the_balance(
    terms: Terms, history: list[Step]
) -> None:
    account = play(terms, history)
    journal = journal_of(account)
    assert journal.unattributed == 0
    assert journal.start_balance == 0
    assert journal.booked == account.state.balance
    by_position = sum((each.result for each in roll_up(journal.trades)), D(0))
    assert by_position + journal.transfers == account.state.balance


@pytest.mark.parametrize("terms", TERMS)
@settings(max_examples=examples(10, soak=100), deadline=None)
@given(history=HISTORIES)
def test_a_trade_is_closed_in_the_journal_when_the_broker_closed_it(
    terms: Terms, history: list[Step]
) -> None:
    account = play(terms, history)
    journal = journal_of(account)
    open_units = {each.id: each.open_units for each in journal.trades if not each.is_closed}
    assert open_units == {
        str(id_): trade.current_units for id_, trade in account.state.trades.items()
    }
    ended = {str(each.id): each.realized_pl for each in account.state.ended.trades()}
    assert {each.id: each.profit for each in journal.closed} == ended


def test_the_initial_risk_is_that_of_the_first_stop_and_later_moves_leave_it() -> None:
    account = PractisedAccount()
    trade = account.trade("EUR_USD", 10_000, stop_loss_on_fill=STOP)
    closer = StopLossDetails(price=D("1.08400"))
    account.do(SetDependents(specifier=str(trade.id), stop_loss=closer))
    account.price("EUR_USD", "1.08399", "1.08409")
    [only] = journal_of(account).closed
    assert only.initial_stop == D("1.08300")
    assert only.initial_risk == D("20.00000")
    assert only.profit == D("-10.1000")
    assert only.r == D("-0.505")
    assert only.exits[0].reason == "STOP_LOSS_ORDER"
    assert only.exits[0].slippage == D("0.00001")  # the stop stood at 1.08400


@pytest.mark.parametrize(("waited", "is_known"), [(60, True), (61, False)])
def test_a_stop_counts_as_the_initial_one_within_60_seconds(waited: int, is_known: bool) -> None:
    account = PractisedAccount()
    trade = account.trade("EUR_USD", 10_000)
    account.market.wait(waited)
    account.do(SetDependents(specifier=str(trade.id), stop_loss=StopLossDetails(price=D("1.08"))))
    [only] = journal_of(account).trades
    assert (only.initial_stop == D("1.08")) is is_known
    assert (only.initial_risk is not None) is is_known


def test_a_trailing_stop_counts_from_where_it_began_a_spread_farther_than_its_distance() -> None:
    account = PractisedAccount()
    account.trade(
        "EUR_USD", -10_000, trailing_stop_loss_on_fill=TrailingStopLossDetails(distance=D("0.0015"))
    )
    [only] = journal_of(account).trades
    assert only.initial_stop == D("1.08650"), "from the ask, which closes the trade"
    assert only.initial_risk == D("16.00000")


def test_of_two_stops_on_the_fill_the_nearer_one_is_the_initial_risk() -> None:
    account = PractisedAccount()
    trail = TrailingStopLossDetails(distance=D("0.0015"))
    account.trade("EUR_USD", 10_000, stop_loss_on_fill=STOP, trailing_stop_loss_on_fill=trail)
    [only] = journal_of(account).trades
    assert only.initial_stop == D("1.08340")
    assert only.initial_risk == D("16.00000")


def test_a_stop_on_the_far_side_of_the_entry_is_no_risk_so_there_is_no_r() -> None:
    account = PractisedAccount()
    trade = account.trade("EUR_USD", 10_000)
    account.market.price("EUR_USD", "1.09000", "1.09010")
    account.do(SetDependents(specifier=str(trade.id), stop_loss=StopLossDetails(price=D("1.087"))))
    [only] = journal_of(account).trades
    assert only.initial_stop == D("1.087")
    assert (only.initial_risk, only.r) == (None, None)


def test_partial_closes_stay_one_trade_with_an_average_exit() -> None:
    account = PractisedAccount()
    trade = account.trade("EUR_USD", 10_000)
    account.price("EUR_USD", "1.08600", "1.08610")
    account.do(CloseTrade(specifier=str(trade.id), units=D(2500)))
    account.market.wait(30)
    account.price("EUR_USD", "1.08700", "1.08710")
    assert not journal_of(account).closed
    account.do(CloseTrade(specifier=str(trade.id)))
    [only] = journal_of(account).closed
    assert [each.units for each in only.exits] == [-2500, -7500]
    assert only.exit_price == D("1.08675")
    assert only.pips(D("0.0001")) == D("17.5")
    assert only.profit == D("17.5000")
    assert only.hold_ns == 30_000_000_000


def test_a_reversal_closes_one_trade_and_opens_another_of_another_position() -> None:
    account = PractisedAccount()
    account.trade("EUR_USD", 1000)
    account.trade("EUR_USD", -3000)
    one, other = journal_of(account).trades
    assert (one.is_closed, one.is_long) == (True, True)
    assert (other.open_units, other.is_long) == (D(-2000), False)
    assert one.position_id != other.position_id


def test_scale_ins_roll_up_to_one_position_until_it_is_flat() -> None:
    account = PractisedAccount()
    account.trade("EUR_USD", 1000, stop_loss_on_fill=STOP)
    account.price("EUR_USD", "1.08590", "1.08600")
    account.trade("EUR_USD", 3000, stop_loss_on_fill=STOP)
    account.do(ClosePosition(instrument="EUR_USD", long_units="ALL"))
    account.trade("EUR_USD", 500)
    together, alone = roll_up(journal_of(account).trades)
    assert len(together.trade_ids) == 2
    assert (together.units, together.entry_price) == (D(4000), D("1.08575"))
    assert together.initial_risk == D("8.0000")
    assert together.is_closed
    assert (alone.units, alone.initial_risk) == (D(500), None)


def test_both_sides_of_a_hedging_account_are_positions_of_their_own() -> None:
    account = PractisedAccount(Terms(currency="USD", hedging=True))
    account.trade("EUR_USD", 1000)
    account.trade("EUR_USD", -1000)
    assert [each.units for each in roll_up(journal_of(account).trades)] == [1000, -1000]


def test_financing_stands_apart_from_the_price_profit() -> None:
    account = PractisedAccount()
    trade = account.trade("EUR_USD", 10_000)
    account.do(Finance())
    account.do(CloseTrade(specifier=str(trade.id)))
    [only] = journal_of(account).closed
    assert only.profit == D("-1.0000")
    assert only.costs.financing < 0
    assert only.result == only.profit + only.costs.financing
    assert only.spread_paid == D("1.0000")


def test_a_margin_closeout_is_an_exit_like_any_other() -> None:
    account = PractisedAccount(deposit="1000")
    account.trade("EUR_USD", 20_000)
    account.price("EUR_USD", "1.04000", "1.04010")
    journal = journal_of(account)
    [only] = journal.closed
    assert only.exits[0].reason == "MARKET_ORDER_MARGIN_CLOSEOUT"
    assert only.result == D("-900.0000")
    assert journal.booked == account.state.balance


def test_the_fee_of_a_guaranteed_stop_stands_apart_from_the_price_profit() -> None:
    account = PractisedAccount()
    guaranteed = GuaranteedStopLossDetails(distance=D("0.0020"))
    account.trade("EUR_USD", 10_000, guaranteed_stop_loss_on_fill=guaranteed)
    account.price("EUR_USD", "1.08000", "1.08010")
    journal = journal_of(account)
    [only] = journal.closed
    assert only.exits[0].price == D("1.08300")
    assert only.profit == D("-20.0000")
    assert only.costs.guarantee_fee == D("1.2000")
    assert only.r == -1, "its premium is part of the initial risk"
    assert journal.booked == account.state.balance


def test_tag_and_comment_are_those_that_were_set_last() -> None:
    account = PractisedAccount()
    trade = account.trade(
        "EUR_USD", 1000, trade_client_extensions=ClientExtensions(tag="a", comment="first")
    )
    named = ClientExtensions(tag="b\x1b[31m")
    account.do(SetTradeExtensions(specifier=str(trade.id), client_extensions=named))
    [only] = journal_of(account).trades
    assert only.tag == "b␛[31m"


def test_a_journal_that_begins_later_attributes_what_it_cannot_know_to_nothing() -> None:
    account = PractisedAccount()
    trade = account.trade("EUR_USD", 10_000)
    seen = len(account.transactions)
    account.do(CloseTrade(specifier=str(trade.id)))
    account.do(TransferFunds(amount=D("100.25")))
    journal = rebuild(events_of(transactions_of(account)[seen:]))
    assert (journal.start_balance, journal.trades) == (D(10_000), ())
    assert journal.unattributed == D("-1.0000")
    assert journal.start_balance + journal.booked == account.state.balance


def test_shares_of_an_amount_add_up_to_it() -> None:
    shares = split(D("1.0000"), [D(1), D(1), D(1)])
    assert shares == [D("0.3333"), D("0.3333"), D("0.3334")]
    assert split(D(5), []) == []
