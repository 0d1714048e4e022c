"""Reconcile an account exactly: what its transactions booked, by kind and instrument, is its balance to the last digit.

keydesk practice serve > practice.json &
python reporter.py < practice.json
"""

import json
import sys
from collections.abc import Iterator
from decimal import Decimal

from keydesk_client import Client, sync
from keydesk_client.models import (
    DailyFinancingTransaction,
    DividendAdjustmentTransaction,
    MarketOrderRequest,
    OrderFillTransaction,
    Transaction,
    TransferFundsTransaction,
)

line = json.loads(sys.stdin.readline())
account_id = line["accounts"][0]["id"]
place = {name: line[name] for name in ("rest_url", "stream_url", "token")}


def booked(transaction: Transaction) -> Iterator[tuple[str, Decimal]]:
    """Yield what a transaction added to the balance, and for what."""
    match transaction:
        case TransferFundsTransaction():
            yield "funds", transaction.amount
        case OrderFillTransaction():
            yield f"profit {transaction.instrument}", transaction.pl
            yield "financing", transaction.financing
            yield "commission", -transaction.commission
            yield "guaranteed stops", -(transaction.guaranteed_execution_fee or Decimal(0))
        case DailyFinancingTransaction():
            yield "financing", transaction.financing
        case DividendAdjustmentTransaction():
            yield "dividends", transaction.dividend_adjustment
        case _:  # orders, cancels and settings book nothing
            pass


with sync.Client(Client(**place, account_id=account_id)) as client:
    for units in (20_000, -20_000):  # something to report
        client.orders.create(MarketOrderRequest(instrument="EUR_JPY", units=units))

    sums: dict[str, Decimal] = {}
    newest = client.accounts.summary().last_transaction_id
    for transaction in client.transactions.iterate():
        for kind, amount in booked(transaction):
            sums[kind] = sums.get(kind, Decimal(0)) + amount
        if isinstance(transaction, OrderFillTransaction) and (
            sum(sums.values()) != transaction.account_balance
        ):
            sys.exit(f"the sums differ from the balance after transaction {transaction.id}")
        if transaction.id >= newest:
            break

    for kind, amount in sorted(sums.items()):
        print(f"{kind:20} {amount:14f}")
    balance = client.accounts.summary().account.balance
    print(f"{'balance':20} {balance:14f}  difference {sum(sums.values()) - balance}")
