"""Open a broker: restore its accounts from a ledger folder, or create them, and tick them up to the present."""

import logging
import sqlite3
from decimal import Decimal

from keydesk_practice.broker.account_session import AccountSession, History, LedgerArchive
from keydesk_practice.broker.broker import Broker
from keydesk_practice.broker.market_clock import Clock
from keydesk_practice.broker.market_time import note_start, present_time, time_left, time_shown
from keydesk_practice.broker.replay_facts import load_replay, stored_overlay
from keydesk_practice.broker.snapshots import new_account, restore_account
from keydesk_practice.engine.commands import OpenAccount
from keydesk_practice.engine.decide import decide
from keydesk_practice.engine.quotes import Market
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.apply import apply
from keydesk_practice.engine.transactions import to_wire
from keydesk_practice.errors import LedgerUnavailable
from keydesk_practice.ledger.interface import LedgerInterface
from keydesk_practice.ledger.kept_ledgers import undo_change
from keydesk_practice.ledger.ledger_file import FILE_NAME, ledger_error
from keydesk_practice.ledger.records import Entry, LedgerAccount, WireTransaction, entry_of
from keydesk_practice.ledger.sqlite_ledger import SqliteLedger
from keydesk_practice.market.candle_files import read_candle_file
from keydesk_practice.market.instruments import CURRENCIES
from keydesk_practice.market.practice_market import MARKET_MODEL, PracticeMarket
from keydesk_practice.market.reference import CACHE, read_reference_rates
from keydesk_practice.options import Options

DEFAULT_SEED = 1
MODEL = "market_model"  # the ledger's fact with the market model of its last start
_FIRST_MODEL = 1  # of ledgers that do not name it
log = logging.getLogger("keydesk.practice")
FIRST_USER = 1_000_001
_USUAL_DEPOSIT = Decimal(100_000)
_DEPOSITS = {  # of currencies whose unit is worth far less than a dollar
    "HUF": Decimal(30_000_000),
    **dict.fromkeys(("INR", "JPY"), Decimal(10_000_000)),
    **dict.fromkeys(("CZK", "MXN", "THB", "TRY", "ZAR"), Decimal(2_000_000)),
    **dict.fromkeys(("CNH", "DKK", "HKD", "NOK", "SEK"), Decimal(1_000_000)),
}


def open_broker(options: Options, owners: int) -> Broker:
    """Open the ledger, restore or create the accounts, and tick them up to the present.

    A ledger keeps its market's seed, and its time never goes back: a ledger that is ahead of the clock (it ran faster), or
    was begun at another time with `--start`, continues from where it was. A replay is paused where it was left.

    Raises:
        LedgerUnavailable: it is in use, damaged, or of another market.
        CandleFileError: a file of `--candles` cannot be read.
    """
    if undo_change(options.data):
        log.warning("the change to another ledger was interrupted: the market goes on before it")
    ledger = SqliteLedger.open(options.data)
    try:
        ledger.verify()
        return open_on(ledger, options, owners)
    except sqlite3.Error as error:
        ledger.close()
        raise ledger_error(error, options.data / FILE_NAME) from error
    except BaseException:
        ledger.close()
        raise


def default_accounts(owner: int, fifo: bool) -> list[LedgerAccount]:
    """Return the two accounts of a token: US dollars with netting, under FIFO rules with `fifo`, and euros with hedging."""
    user = FIRST_USER + owner
    return [
        LedgerAccount(f"101-001-{user}-001", owner, "USD", hedging=False, fifo=fifo),
        LedgerAccount(f"101-001-{user}-002", owner, "EUR", hedging=True),
    ]


def open_on(ledger: LedgerInterface, options: Options, owners: int) -> Broker:
    """Open the broker of an open ledger, as `open_broker` does."""
    seed = _market_seed(options, ledger)
    earlier_model = change_model(ledger)
    own = tuple(read_candle_file(instrument, file) for instrument, file in options.candles)
    rates = read_reference_rates(CURRENCIES, cache=options.data / CACHE)
    left, shown = time_left(ledger), time_shown(ledger)
    is_replay = load_replay(ledger) is not None
    note_start(ledger, options)
    start = present_time(options, ledger, shown)
    if shown and start == shown and options.start is None and not is_replay:
        log.warning("the market goes on where it was left; --start now takes it to the present")
    if is_replay and shown:  # goes on where it was left, whatever the time is now
        start = max(shown, options.start or 0)
    clock = Clock(start, options.speed, running=not (options.paused or is_replay))
    broker = Broker(
        ledger,
        lambda: PracticeMarket(seed, options.hours, own, rates),
        clock,
        since=left or start,
        price_rate=options.price_rate,
        overlay=stored_overlay(ledger),
    )
    broker.earlier_model = earlier_model
    known = {account.id: account for account in ledger.accounts()}
    restore_sessions(broker)
    configured = [one for owner in range(owners) for one in default_accounts(owner, options.fifo)]
    for account in configured:
        _check_fifo(account, known.get(account.id, account))
    for account in configured:
        if account.id not in known:
            create_account(broker, account)
    broker.catch_up()
    if problem := broker.commits.failure or broker.commits.refusal:
        raise problem
    return broker


def restore_sessions(broker: Broker) -> None:
    """Add every account of the ledger as its transactions left it."""
    for account in broker.ledger.accounts():
        restore_session(broker, account)


def restore_session(broker: Broker, account: LedgerAccount) -> None:
    """Add one account of the ledger as its transactions left it."""
    state = restore_account(broker.ledger, account)
    _check_instruments(state, broker)
    broker.add_session(_session(broker, account, state))


def _check_instruments(state: Account, broker: Broker) -> None:
    held = {*state.positions, *(order.instrument for order in state.orders.values())}
    for name in sorted(held):
        if broker.board.specification(name) is None:
            raise LedgerUnavailable(
                f"account {state.id} holds {name}, which this market does not offer; "
                f"start with --candles {name}=FILE as before"
            )


def _check_fifo(configured: LedgerAccount, stored: LedgerAccount) -> None:
    if configured.fifo and not stored.fifo:
        raise LedgerUnavailable(
            f"account {stored.id} was opened without --fifo and keeps its rules: "
            "leave out --fifo, use another folder with --data, or run `keydesk practice reset`"
        )


def _market_seed(options: Options, ledger: LedgerInterface) -> int:
    """Return the seed of the ledger's market; raise `LedgerUnavailable` when another one is asked for."""
    kept = ledger.fact("seed")
    if kept is None:
        seed = DEFAULT_SEED if options.seed is None else options.seed
        ledger.set_fact("seed", str(seed))
        return seed
    if options.seed not in {None, int(kept)}:
        raise LedgerUnavailable(
            f"this ledger belongs to the market of seed {kept}: use --seed {kept}, another folder with --data, or run `keydesk practice reset`"
        )
    return int(kept)


def change_model(ledger: LedgerInterface) -> int | None:
    """Store the present market model; return the earlier one of a ledger that has accounts from before it.

    Such a ledger stays as it is: what was traded keeps its prices, and from this start on the market has those of the
    present model, as after a gap.
    """
    earlier = int(ledger.fact(MODEL) or _FIRST_MODEL)
    if earlier == MARKET_MODEL:
        return None
    ledger.set_fact(MODEL, str(MARKET_MODEL))
    if not ledger.accounts():
        return None
    log.warning(
        "this ledger was kept with market model %d: its trades stay, and prices go on with those of model %d",
        earlier,
        MARKET_MODEL,
    )
    return earlier


def _session(broker: Broker, account: LedgerAccount, state: Account) -> AccountSession:
    archive = LedgerArchive(broker.ledger, account.id)
    state.ended = archive
    history = History(broker.ledger, account.id)
    return AccountSession(account, state, broker.board, archive, history, state.last_transaction_id)


def create_account(
    broker: Broker,
    account: LedgerAccount,
    balance: Decimal | None = None,
    alias: str | None = None,
    margin_rate: Decimal | None = None,
) -> None:
    """Create, name and fund an account, write it to the ledger and add it."""
    state, entries = _new_account_history(broker.board, account, balance, alias, margin_rate)
    broker.ledger.create_account(account, entries)
    broker.add_session(_session(broker, account, state))


def replace_account(
    broker: Broker, account: LedgerAccount, balance: Decimal | None, margin_rate: Decimal | None
) -> None:
    """Begin an account anew under its id, with other terms perhaps; in the ledger it is the old one or the new one."""
    state, entries = _new_account_history(broker.board, account, balance, None, margin_rate)
    broker.ledger.replace_account(account, entries)
    broker.add_session(_session(broker, account, state))


def start_balance(currency: str) -> Decimal:
    """Return what a new account begins with when nothing is said: of the order of 100,000 dollars."""
    return _DEPOSITS.get(currency, _USUAL_DEPOSIT)


def _new_account_history(
    market: Market,
    account: LedgerAccount,
    balance: Decimal | None = None,
    alias: str | None = None,
    margin_rate: Decimal | None = None,
) -> tuple[Account, list[Entry]]:
    """Return a named and funded account, and the transactions that make it."""
    state = new_account(account)
    usual = (
        "Practice, hedging" if account.hedging else "Practice, FIFO" if account.fifo else "Practice"
    )
    deposit = start_balance(account.currency) if balance is None else balance
    opening = OpenAccount(alias=alias or usual, deposit=deposit, margin_rate=margin_rate)
    history = decide(state, opening, market)
    for transaction in history:
        apply(state, transaction)
    return state, [entry_of(WireTransaction(to_wire(one)), one.time) for one in history]
