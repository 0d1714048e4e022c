"""The JSON documents of the commands as models; `docs/build_shell_files.py` writes their schemas into the wheel.

The commands write what they read, member for member; the models say what a script may rely on. Records of the broker
have the names of the v20 interface (camelCase) and keep every member that it sent, named here or not; amounts, prices
and times are text, digit for digit.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from keydesk.cli.script_output import Category

Amount = Annotated[str, Field(pattern=r"^-?[0-9]+(\.[0-9]+)?$")]
Instant = Annotated[str, Field(description="RFC 3339 in UTC, or seconds since 1970")]
Side = Literal["long", "short"]


class Document(BaseModel):
    """One JSON document on standard output."""

    model_config = ConfigDict(extra="forbid")

    schema_version: Literal[1]


class AccountDocument(Document):
    """A document about one account."""

    profile: str
    environment: Literal["PRACTICE", "LIVE"]
    account_id: str


class Record(BaseModel):
    """A record as the broker sent it; members that are not named here are kept."""

    model_config = ConfigDict(extra="allow", alias_generator=to_camel)


class ErrorDocument(Document):
    """Why a command failed; also printed for wrong arguments."""

    kind: Literal["error"]
    category: Category
    retryable: bool = Field(description="whether the same command may succeed later, unchanged")
    exit_code: int = Field(ge=1)
    message: str


class Extensions(Record):
    """The client's own id, tag and comment."""

    id: str | None = None
    tag: str | None = None
    comment: str | None = None


class OrderRecord(Record):
    """An order."""

    id: str
    type: str
    state: str
    create_time: Instant
    instrument: str | None = None
    units: Amount | None = None
    price: Amount | None = None
    time_in_force: str | None = None
    trade_id: str | None = Field(None, alias="tradeID", description="of a stop or target")
    client_extensions: Extensions | None = None


class TradeRecord(Record):
    """A trade."""

    id: str
    instrument: str
    price: Amount
    open_time: Instant
    state: str
    initial_units: Amount = Field(description="negative when short")
    current_units: Amount
    realized_pl: Amount = Field(alias="realizedPL")
    unrealized_pl: Amount | None = Field(None, alias="unrealizedPL")
    financing: Amount
    stop_loss_order: OrderRecord | None = None
    take_profit_order: OrderRecord | None = None
    trailing_stop_loss_order: OrderRecord | None = None
    close_time: Instant | None = None
    average_close_price: Amount | None = None
    client_extensions: Extensions | None = None


class PositionSideRecord(Record):
    """One side of a position."""

    units: Amount
    average_price: Amount | None = None
    trade_ids: list[str] | None = Field(None, alias="tradeIDs")
    unrealized_pl: Amount | None = Field(None, alias="unrealizedPL")


class PositionRecord(Record):
    """The position in an instrument."""

    instrument: str
    pl: Amount
    unrealized_pl: Amount | None = Field(None, alias="unrealizedPL")
    long: PositionSideRecord
    short: PositionSideRecord


class AccountFigures(Record):
    """The account: balance, margin, and its trades, orders and positions."""

    id: str
    currency: str
    balance: Amount
    nav: Amount = Field(alias="NAV")
    pl: Amount
    unrealized_pl: Amount = Field(alias="unrealizedPL")
    margin_used: Amount
    margin_available: Amount
    margin_closeout_percent: Amount
    hedging_enabled: bool
    open_trade_count: int
    pending_order_count: int
    last_transaction_id: str = Field(alias="lastTransactionID")
    trades: list[Record]
    orders: list[OrderRecord]
    positions: list[PositionRecord]


class TransactionRecord(Record):
    """A transaction; which other members it has depends on its type."""

    id: str
    time: Instant
    type: str
    reason: str | None = None
    reject_reason: str | None = None
    instrument: str | None = None
    units: Amount | None = None
    price: Amount | None = None
    pl: Amount | None = None
    account_balance: Amount | None = None


class AccountName(Record):
    """An account of the token."""

    id: str
    tags: list[str]


class PriceLevel(Record):
    """A price and the units that it is good for."""

    price: Amount
    liquidity: int | Amount


class PriceRecord(Record):
    """The price of an instrument."""

    instrument: str
    time: Instant
    tradeable: bool
    bids: list[PriceLevel]
    asks: list[PriceLevel]
    closeout_bid: Amount
    closeout_ask: Amount


class Bar(BaseModel):
    """Open, high, low, close."""

    o: Amount
    h: Amount
    l: Amount  # noqa: E741 - as on the wire
    c: Amount


class Candle(BaseModel):
    """A candle, named by its beginning."""

    time: Instant
    volume: int
    complete: bool
    mid: Bar | None = None
    bid: Bar | None = None
    ask: Bar | None = None


class StatusDocument(AccountDocument):
    """`keydesk status --json`."""

    kind: Literal["status"]
    unread: list[str] = Field(
        description="what the broker answered and could not be read: not known, and not none; empty as a rule"
    )
    account: AccountFigures


class AccountOverview(BaseModel):
    """An account at a glance; where `error` says why it cannot be read, the figures are null."""

    account_id: str
    error: str | None
    alias: str
    currency: str
    balance: Amount | None
    nav: Amount | None
    unrealized_pl: Amount | None
    margin_used: Amount | None
    margin_available: Amount | None
    open_risk: Amount | None = Field(
        description="loss of the trades at their stops; null where a trade has no stop, or it is not known"
    )
    unread: list[str] = Field(description="what could not be read of it: not known, and not none")
    trades: int
    entry_orders: int
    trades_without_stop: int


class ProfileAccounts(BaseModel):
    """The accounts of a profile's token; `error` says why they cannot be read."""

    profile: str
    environment: Literal["PRACTICE", "LIVE"]
    error: str | None
    accounts: list[AccountOverview] = Field(
        description="without those that a profile before it has, too"
    )


class StatusAllDocument(Document):
    """`keydesk status --all --json`; the exit code is 1 if a profile or an account could not be read."""

    kind: Literal["status-all"]
    profiles: list[ProfileAccounts]


class AccountsDocument(AccountDocument):
    """`keydesk accounts --json`; `account_id` is the selected one."""

    kind: Literal["accounts"]
    accounts: list[AccountName]


class OrdersDocument(AccountDocument):
    """`keydesk orders --json`, newest first."""

    kind: Literal["orders"]
    orders: list[OrderRecord]


class TradesDocument(AccountDocument):
    """`keydesk trades --json`, newest first."""

    kind: Literal["trades"]
    trades: list[TradeRecord]


class PositionsDocument(AccountDocument):
    """`keydesk positions --json`."""

    kind: Literal["positions"]
    positions: list[PositionRecord]


class TransactionsDocument(AccountDocument):
    """`keydesk transactions --json`, oldest first."""

    kind: Literal["transactions"]
    transactions: list[TransactionRecord]


class PricesDocument(AccountDocument):
    """`keydesk prices --json`."""

    kind: Literal["prices"]
    time: Instant
    prices: list[PriceRecord]


class CandlesDocument(AccountDocument):
    """`keydesk candles --json`, oldest first."""

    kind: Literal["candles"]
    instrument: str
    granularity: str
    candles: list[Candle]


class Check(BaseModel):
    """One check of the machine or the broker."""

    name: str
    verdict: Literal["ok", "warn", "bad"]
    words: str


class ClosedAccount(BaseModel):
    """Which account."""

    profile: str
    environment: Literal["PRACTICE", "LIVE"]
    account_id: str


class FlattenDocument(Document):
    """`keydesk flatten --json`: the accounts that have no position and no entry order now; what is left is an error."""

    kind: Literal["flatten"]
    accounts: list[ClosedAccount]


class CancelAllDocument(Document):
    """`keydesk cancel-all --json`: the accounts that have no entry order now; what is left is an error."""

    kind: Literal["cancel-all"]
    accounts: list[ClosedAccount]


class LockDocument(Document):
    """`keydesk lock --json`: whether a desk on this machine is exit-only now."""

    kind: Literal["lock"]
    profile: str
    locked: bool


class DoctorDocument(Document):
    """`keydesk doctor --json`."""

    kind: Literal["doctor"]
    ok: bool
    checks: list[Check]


class ProfileName(BaseModel):
    """A profile that is signed in."""

    name: str
    environment: Literal["practice", "live", "custom"]
    is_practice_money: bool = Field(description="false: a desk on it says LIVE")
    account_id: str
    is_last: bool = Field(description="the one that commands use without --profile")


class ProfilesDocument(Document):
    """`keydesk profiles --json`."""

    kind: Literal["profiles"]
    profiles: list[ProfileName]


class TemplateName(BaseModel):
    """A template of new tickets."""

    name: str
    instruments: list[str] = Field(description="whose tickets begin with it")


class TemplatesDocument(Document):
    """`keydesk templates list --json`."""

    kind: Literal["templates"]
    templates: list[TemplateName]


class ExportDocument(AccountDocument):
    """`keydesk export WHAT --json`; the members of a row are the columns of the CSV file."""

    kind: Literal["export"]
    what: Literal["equity", "trades", "transactions"]
    rows: list[dict[str, str | None]]


class MissingCandles(BaseModel):
    """Candles that are not in the series; of days and longer none is counted."""

    market_closed: int = Field(description="the market was closed when they began")
    no_ticks: int = Field(description="it was open, and no price came")


class HistoryDocument(AccountDocument):
    """`keydesk history ... --csv FILE --json`: what was written."""

    kind: Literal["history"]
    instrument: str
    granularity: str
    file: str
    candles: int
    first: Instant | None
    last: Instant | None
    missing: MissingCandles


class Figure(BaseModel):
    """A figure, null where it is not defined; a ratio without losses is "Infinity"."""

    value: str | None
    n: int = Field(description="how many trades or days it rests on")
    doubt: str | None = Field(description="why it is not reliable")


class Figures(BaseModel):
    """The figures of a set of closed trades; rates are shares of 1."""

    trades: int
    total: Figure
    win_rate: Figure
    average_win: Figure
    average_loss: Figure
    payoff: Figure
    expectancy: Figure
    expectancy_r: Figure
    profit_factor: Figure
    recovery: Figure
    sqn: Figure
    time_in_market: Figure
    max_drawdown: str
    max_drawdown_share: str | None
    longest_run_of_wins: int
    longest_run_of_losses: int
    financing: str
    spread_paid: str | None


class DailyFigures(BaseModel):
    """The figures of daily net asset values, transfers taken out."""

    days: int
    sharpe: Figure
    sortino: Figure
    max_drawdown: str
    max_drawdown_share: str | None


JournalTrade = Annotated[
    dict[str, str | None], Field(description="a trade by the columns of `keydesk journal --csv`")
]


class JournalTradesDocument(AccountDocument):
    """`keydesk journal list --json`."""

    kind: Literal["journal-trades"]
    trades: list[JournalTrade]


class JournalStatisticsDocument(AccountDocument):
    """`keydesk journal stats --json`; `daily` is null where trades were chosen."""

    kind: Literal["journal-statistics"]
    figures: Figures
    daily: DailyFigures | None


class JournalGroup(BaseModel):
    """The figures of a group of trades."""

    group: str
    figures: Figures


class JournalGroupsDocument(AccountDocument):
    """`keydesk journal stats --by GROUPING --json`."""

    kind: Literal["journal-groups"]
    by: str
    groups: list[JournalGroup]


class JournalReportDocument(AccountDocument):
    """`keydesk journal report --json`: what was closed on these trading days."""

    kind: Literal["journal-report"]
    days: list[str]
    trades: list[JournalTrade]
    figures: Figures


class JournalWhatIfDocument(AccountDocument):
    """`keydesk journal what-if --json`."""

    kind: Literal["journal-what-if"]
    rule: str
    before: Figures
    after: Figures
    doubts: list[str]


class JournalNoteDocument(AccountDocument):
    """`keydesk journal note TRADE --json`."""

    kind: Literal["journal-note"]
    trade: str
    removed: bool = Field(description="whether the note is empty now, and so gone")


class WatchDocument(AccountDocument):
    """A line of `keydesk watch --alerts --json`."""

    kind: Literal["watch"]
    event: str = Field(
        description="watching, prices, alert, fill, stop, reject, margin, limit, disconnect, or reconnect after it"
    )
    time: Instant | None
    text: str
    data: dict[str, str | int | bool | None]


class OrderDocument(AccountDocument):
    """`keydesk order ... --json`: what would be sent, or the outcome of what was sent."""

    kind: Literal["order"]
    action: Literal["buy", "sell", "close", "protect", "cancel"]
    outcome: Literal["dry-run", "done", "rejected", "not-sent", "unknown"]
    exit_code: int
    text: str
    request: dict[str, object] = Field(description="as it is sent, as far as it is known before")
    figures: dict[str, str] | None = Field(description="levels, margin and risk of an entry")
    warnings: list[str] = Field(description="sent with --yes only if --despite-warnings is given")
    client_id: str | None = Field(description="of the request, null of a dry run")
    result: str | None = Field(
        description="filled, resting, applied or cancelled, where the broker acted on it"
    )
    reason: str | None = Field(description="why it was rejected or cancelled at once")
    order_id: str | None
    transactions: list[TransactionRecord]


DOCUMENTS: Mapping[str, type[Document]] = {
    get_args(model.model_fields["kind"].annotation)[0]: model
    for model in (
        *(
            ErrorDocument,
            StatusDocument,
            StatusAllDocument,
            AccountsDocument,
            OrdersDocument,
            TradesDocument,
        ),
        *(PositionsDocument, TransactionsDocument, PricesDocument, CandlesDocument),
        *(FlattenDocument, CancelAllDocument, LockDocument),
        *(DoctorDocument, ProfilesDocument, TemplatesDocument, ExportDocument, HistoryDocument),
        *(JournalTradesDocument, JournalStatisticsDocument, JournalGroupsDocument),
        *(
            JournalReportDocument,
            JournalWhatIfDocument,
            JournalNoteDocument,
            OrderDocument,
            WatchDocument,
        ),
    )
}
"""By kind; a schema file each."""
