"""Open a node of a cluster: the ledger with its market's seed, pace and accounts, made by the first node that starts."""

import secrets

from keydesk_practice.broker.broker import Broker
from keydesk_practice.broker.feeds import PriceBoard
from keydesk_practice.broker.opening import (
    change_model,
    default_accounts,
    market_seed,
    new_account_history,
)
from keydesk_practice.broker.replay import stored_overlay
from keydesk_practice.cluster.clock import ClusterClock, DatabaseWallClock
from keydesk_practice.cluster.database import Pace, read_pace, wall_offset, write_pace
from keydesk_practice.cluster.node import Node
from keydesk_practice.ledger.postgres import PostgresLedger
from keydesk_practice.ledger.postgres_connection import connect, connection_text
from keydesk_practice.market.market import PracticeMarket
from keydesk_practice.market.replay import read_candle_file
from keydesk_practice.options import Options

SECRET_FACT = "cluster_secret"  # noqa: S105 - the name of the fact
_SECRET_BYTES = 32


def open_node(options: Options, owners: int) -> Node:
    """Open the ledger and the market of a node; it has no accounts until it is started.

    Seed, start and speed are those of the first node that ever opened the ledger.

    Raises:
        LedgerUnavailable: the ledger cannot be opened, or is of another market.
        CandleFileError: a file of `--candles` cannot be read.
    """
    assert options.ledger is not None  # noqa: S101 - else it is no node
    ledger = PostgresLedger.open(connection_text(options.ledger))
    try:
        return _open(options, owners, ledger)
    except BaseException:
        ledger.close()
        raise


def cluster_secret(node: Node) -> bytes:
    """Return the secret by which the nodes know each other."""
    return (node.ledger.fact(SECRET_FACT) or "").encode()


def _open(options: Options, owners: int, ledger: PostgresLedger) -> Node:
    own = tuple(read_candle_file(instrument, file) for instrument, file in options.candles)
    with ledger.setup():
        seed = market_seed(options, ledger)
        earlier_model = change_model(ledger)
        if ledger.fact(SECRET_FACT) is None:
            ledger.set_fact(SECRET_FACT, secrets.token_hex(_SECRET_BYTES))
    wall, pace = _pace(options, ledger)
    clock = ClusterClock(pace, wall)
    broker = Broker(
        ledger,
        lambda: PracticeMarket(seed, options.hours, own),
        clock,
        since=clock(),
        price_rate=options.price_rate,
        overlay=stored_overlay(ledger),
    )
    broker.earlier_model = earlier_model
    with ledger.setup():
        known = {account.id for account in ledger.accounts()}
        board = PriceBoard(broker.market_at, clock())
        for owner in range(owners):
            for account in default_accounts(owner, options.fifo):
                if account.id not in known:
                    ledger.create_account(account, new_account_history(board, account)[1])
    return Node(broker, ledger, clock, wall)


def _pace(options: Options, ledger: PostgresLedger) -> tuple[DatabaseWallClock, Pace]:
    """Return the clock of the database, and the pace of the market, which the first node sets."""
    connection = connect(ledger.text)
    try:
        wall = DatabaseWallClock(*wall_offset(connection))
        with ledger.setup():
            pace = read_pace(connection)
            if pace is None:
                start = wall() if options.start is None else options.start
                stops = start if options.paused else None
                pace = Pace(start, wall(), options.speed, stops, 1)
                write_pace(connection, pace)
    finally:
        connection.close()
    return wall, pace
