"""Account commands: open, fund and configure an account, and book its daily financing."""

from decimal import Decimal

from keydesk_practice.engine.commands import Configure, OpenAccount, TransferFunds
from keydesk_practice.engine.margin import (
    CLOSEOUT_FACTOR,
    account_margin_call_percent,
    margin_available,
)
from keydesk_practice.engine.quotes import (
    ZERO,
    ZERO_MONEY,
    Specification,
    conversion_factors,
    convert_to_home,
    specification_of,
    weekday,
)
from keydesk_practice.engine.state.account import Position, Trade
from keydesk_practice.engine.state.apply import Decision
from keydesk_practice.engine.transactions import (
    AccountCreated,
    ClientConfigured,
    ClientConfigureRejected,
    DailyFinanced,
    FundsTransferred,
    OpenTradeFinancing,
    PositionFinancing,
    TransferFundsRejected,
)
from keydesk_practice.engine.wire_form import round_money, strip_zeros

MAX_ALIAS_LENGTH = 128
MAX_TRANSFER = Decimal(1_000_000_000_000)
DAYS_PER_YEAR = 365
FINANCING_MODE = "DAILY"
_FINANCING_STEP = Decimal("0.00000001")


def open_account(decision: Decision, command: OpenAccount) -> None:
    """Create, name and fund the account: one batch each, as accounts of the real service begin."""
    site, division, user, number = (int(part) for part in decision.account.id.split("-"))
    decision.record(
        AccountCreated,
        division_id=division,
        site_id=site,
        account_user_id=user,
        account_number=number,
        home_currency=decision.account.currency,
    )
    if command.alias is not None:
        decision.begin_batch()
        decision.record(ClientConfigured, alias=command.alias, margin_rate=command.margin_rate)
    if command.deposit:
        decision.begin_batch()
        transfer_funds(decision, TransferFunds(amount=command.deposit))


def transfer_funds(decision: Decision, command: TransferFunds) -> None:
    """Deposit or withdraw money; at most the margin available can be withdrawn."""
    members = {"funding_reason": command.funding_reason, "comment": command.comment}
    amount = round_money(command.amount) if abs(command.amount) <= MAX_TRANSFER else command.amount
    if problem := _transfer_problem(decision, amount):
        decision.record(TransferFundsRejected, amount=amount, reject_reason=problem, **members)
        return
    balance = decision.account.balance + amount
    decision.record(FundsTransferred, amount=amount, account_balance=balance, **members)


def configure(decision: Decision, command: Configure) -> None:
    """Change the client's settings: all that are given, or none."""
    members = {"alias": command.alias, "margin_rate": command.margin_rate}
    if problem := _configure_problem(decision, command):
        decision.record(ClientConfigureRejected, reject_reason=problem, **members)
        return
    decision.record(ClientConfigured, **members)


def finance(decision: Decision) -> None:
    """Book the financing of the day that ends now (17:00 New York), if a position is open and the weekday is charged."""
    account = decision.account
    financings = [
        _position_financing(decision, position)
        for position in account.positions.values()
        if position.is_open
    ]
    charged = tuple(part for part in financings if part is not None)
    if not charged:
        return
    total = sum((part.financing for part in charged), ZERO_MONEY)
    decision.record(
        DailyFinanced,
        financing=total,
        account_balance=account.balance + total,
        account_financing_mode=FINANCING_MODE,
        position_financings=charged,
    )


def _transfer_problem(decision: Decision, amount: Decimal) -> str | None:
    if not amount or abs(amount) > MAX_TRANSFER:
        return "AMOUNT_INVALID"
    if amount > 0:
        return None
    free = min(decision.account.balance, margin_available(decision.account, decision.market))
    return "INSUFFICIENT_FUNDS" if -amount > free else None


def _configure_problem(decision: Decision, command: Configure) -> str | None:
    if command.unreadable is not None:
        return command.unreadable
    if command.alias is None and command.margin_rate is None:
        return "CLIENT_CONFIGURE_DATA_MISSING"
    if command.alias is not None and len(command.alias) > MAX_ALIAS_LENGTH:
        return "ALIAS_INVALID"
    if command.margin_rate is None:
        return None
    if not 0 < command.margin_rate <= 1:
        return "MARGIN_RATE_INVALID"
    return _margin_rate_problem(decision, command.margin_rate)


def _margin_rate_problem(decision: Decision, rate: Decimal) -> str | None:
    """Refuse a margin rate that would cause a margin call or closeout of the open positions."""
    trial = decision.account.copy()
    trial.margin_rate = rate
    percent = account_margin_call_percent(trial, decision.market)
    if percent * CLOSEOUT_FACTOR >= 1:
        return "MARGIN_RATE_WOULD_TRIGGER_CLOSEOUT"
    return "MARGIN_RATE_WOULD_TRIGGER_MARGIN_CALL" if percent >= 1 else None


def _position_financing(decision: Decision, position: Position) -> PositionFinancing | None:
    market = decision.market
    specification = specification_of(market, position.instrument)
    days = specification.financing_days[weekday(market.now)]
    if not days:
        return None
    ids = sorted((*position.long.trade_ids, *position.short.trade_ids))
    parts = tuple(
        _trade_financing(decision, decision.account.trades[id_], specification, days) for id_ in ids
    )
    return PositionFinancing(
        instrument=position.instrument,
        financing=sum((part.financing for part in parts), ZERO_MONEY),
        base_financing=strip_zeros(sum((part.base_financing or ZERO for part in parts), ZERO)),
        quote_financing=strip_zeros(sum((part.quote_financing or ZERO for part in parts), ZERO)),
        home_conversion_factors=conversion_factors(
            specification, market, decision.account.currency
        ),
        open_trade_financings=parts,
        account_financing_mode=FINANCING_MODE,
    )


def _trade_financing(
    decision: Decision, trade: Trade, specification: Specification, days: int
) -> OpenTradeFinancing:
    """Return a trade's financing: units x annual rate / 365 x days charged, converted to home currency.

    By `terms.financing_in` it is computed on the base units or on their value in the quote currency. Instruments other than
    currencies have no base amount to convert: always on their value. Source: recorded DAILY_FINANCING transactions.
    """
    account, market = decision.account, decision.market
    rate = specification.long_rate if trade.long else specification.short_rate
    base = abs(trade.current_units) * rate * days / DAYS_PER_YEAR
    quote = base * market.quote(trade.instrument).mid
    on_base = account.terms.financing_in == "BASE" and specification.type == "CURRENCY"
    currency = specification.base if on_base else specification.quote_currency
    amount = base if on_base else quote
    return OpenTradeFinancing(
        trade_id=trade.id,
        financing=convert_to_home(amount, market.conversion(currency, account.currency)),
        base_financing=strip_zeros(base.quantize(_FINANCING_STEP)),
        quote_financing=strip_zeros(quote.quantize(_FINANCING_STEP)),
        financing_rate=strip_zeros(rate),
    )
