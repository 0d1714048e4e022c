"""Opening the broker: its ledger, its market, its clock, and every account as it was; the first start makes accounts.

A ledger belongs to one market: its seed is kept, and its time never goes back. A ledger that is ahead of the clock (it
ran faster, or from a later start) goes on from where it was.
"""

import sqlite3
import time
from decimal import Decimal

from keydesk_practice.broker.broker import LAST_SEEN, Broker
from keydesk_practice.broker.clock import Clock
from keydesk_practice.broker.desks import AccountDesk
from keydesk_practice.broker.history import History
from keydesk_practice.engine.commands import OpenAccount
from keydesk_practice.engine.decide import decide
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.apply import apply
from keydesk_practice.engine.transactions import to_wire
from keydesk_practice.errors import LedgerUnavailable
from keydesk_practice.ledger.ended_shelf import EndedShelf
from keydesk_practice.ledger.ledger import Ledger, LedgerAccount, entry_of
from keydesk_practice.ledger.ledger_file import FILE_NAME, ledger_refusal
from keydesk_practice.ledger.restoring import new_account, restored
from keydesk_practice.market.market import PracticeMarket
from keydesk_practice.market.own_data import read_own
from keydesk_practice.options import Options

DEFAULT_SEED = 1
FIRST_USER = 1_000_001
DEPOSIT = Decimal(100_000)


def open_broker(options: Options, owners: int) -> Broker:
    """Open the ledger and bring every account to the present.

    Raises:
        LedgerUnavailable: it is held by another process, or belongs to another market.
        OwnDataUnreadable: a file of candles cannot be used.
    """
    ledger = Ledger.open(options.data)
    try:
        ledger.refuse_damage()
        return _open(options, owners, ledger)
    except sqlite3.Error as error:
        ledger.close()
        raise ledger_refusal(error, options.data / FILE_NAME) from error
    except BaseException:
        ledger.close()
        raise


def _open(options: Options, owners: int, ledger: Ledger) -> Broker:
    seed = _seed(options, ledger)
    own = tuple(read_own(instrument, file) for instrument, file in options.candles)
    last_seen = max(int(ledger.fact(LAST_SEEN) or 0), ledger.last_time())
    asked = time.time_ns() if options.start is None else options.start
    start = max(asked, last_seen)
    clock = Clock(start, options.speed)
    broker = Broker(
        ledger,
        lambda: PracticeMarket(seed, options.hours, own),
        clock,
        since=last_seen or start,
        price_rate=options.price_rate,
    )
    known = {account.id: account for account in ledger.accounts()}
    for account in known.values():
        state = restored(ledger, account)
        _check_instruments(state, broker)
        broker.admit(_desk(broker, account, state))
    asked_for = [one for owner in range(owners) for one in default_accounts(owner, options.fifo)]
    for account in asked_for:
        _check_fifo(account, known.get(account.id, account))
    for account in asked_for:
        if account.id not in known:
            broker.admit(_opened(broker, account))
    broker.catch_up()
    if broker.commits.failure is not None:
        raise broker.commits.failure
    return broker


def _check_instruments(state: Account, broker: Broker) -> None:
    held = {*state.positions, *(order.instrument for order in state.orders.values())}
    for name in sorted(held):
        if broker.board.specification(name) is None:
            raise LedgerUnavailable(
                f"account {state.id} holds {name}, which this market does not offer; "
                f"start with --candles {name}=FILE as before"
            )


def _check_fifo(asked: LedgerAccount, kept: LedgerAccount) -> None:
    if asked.fifo and not kept.fifo:
        raise LedgerUnavailable(
            f"account {kept.id} was opened without --fifo and keeps its rules; "
            "use another --data, or practice reset"
        )


def _seed(options: Options, ledger: Ledger) -> int:
    kept = ledger.fact("seed")
    if kept is None:
        seed = DEFAULT_SEED if options.seed is None else options.seed
        ledger.note("seed", str(seed))
        return seed
    if options.seed not in {None, int(kept)}:
        raise LedgerUnavailable(
            f"this ledger belongs to the market of seed {kept}; use another --data, or practice reset"
        )
    return int(kept)


def default_accounts(owner: int, fifo: bool) -> list[LedgerAccount]:
    """Return the two accounts of a token: US dollars netting, with FIFO rules if asked for; euros hedging."""
    user = FIRST_USER + owner
    return [
        LedgerAccount(f"101-001-{user}-001", owner, "USD", hedging=False, fifo=fifo),
        LedgerAccount(f"101-001-{user}-002", owner, "EUR", hedging=True),
    ]


def _desk(broker: Broker, account: LedgerAccount, state: Account) -> AccountDesk:
    shelf = EndedShelf(broker.ledger, account.id)
    state.ended = shelf
    history = History(broker.ledger, account.id)
    return AccountDesk(account, state, broker.board, shelf, history, state.last_transaction_id)


def _opened(broker: Broker, account: LedgerAccount) -> AccountDesk:
    """Open an account: created, named and funded, all in the ledger before anybody sees it."""
    state = new_account(account)
    alias = (
        "Practice, hedging" if account.hedging else "Practice, FIFO" if account.fifo else "Practice"
    )
    history = decide(state, OpenAccount(alias=alias, deposit=DEPOSIT), broker.board)
    for transaction in history:
        apply(state, transaction)
    entries = [entry_of(to_wire(one), one.time) for one in history]
    broker.ledger.create_account(account, entries)
    return _desk(broker, account, state)
