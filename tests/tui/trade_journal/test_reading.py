import json
from decimal import Decimal

from keydesk.calc.trade_journal.rebuild import rebuild
from keydesk.trade_journal.reading import events_of
from keydesk_client.models import Transaction
from keydesk_client.models._core.decoder import Reader
from keydesk_practice.engine.commands import MarketRequest
from keydesk_practice.engine.transactions import to_wire
from support.practised_account import PractisedAccount

_reader: Reader[Transaction] = Reader(Transaction)


def test_a_malformed_transaction_is_left_out_and_its_amount_is_unattributed() -> None:
    account = PractisedAccount()
    for units in (1000, -1000, 500, -500):
        account.place(MarketRequest(instrument="EUR_USD", units=Decimal(units)))
    said = [to_wire(each) for each in account.transactions]
    closing = next(each for each in said if each.get("tradesClosed"))
    closing["pl"] = "much"
    journal = rebuild(events_of(_reader.read(json.dumps(each)) for each in said))
    assert journal.start_balance + journal.booked == account.state.balance
    assert journal.unattributed != 0


def test_hostile_names_are_cleaned() -> None:
    account = PractisedAccount()
    account.trade("EUR_USD", 1000)
    said = [to_wire(each) for each in account.transactions]
    fill = next(each for each in said if each["type"] == "ORDER_FILL")
    fill["instrument"] = "EUR\x1b]0;x\x07_USD"
    [only] = rebuild(events_of(_reader.read(json.dumps(each)) for each in said)).trades
    assert only.instrument.isprintable()
    assert "\x1b" not in only.instrument
