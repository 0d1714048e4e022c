"""What the operations of the control interface work on, and the state that they answer."""

import asyncio
import json
from collections.abc import Callable
from decimal import Decimal

from msgspec import Struct, field

from keydesk_practice.broker.account_session import AccountSession
from keydesk_practice.broker.anonymizer import ALIAS
from keydesk_practice.broker.broker import ACCOUNTS_LEFT, Broker
from keydesk_practice.broker.market_time import LAST_SEEN
from keydesk_practice.broker.replay_facts import load_replay, replay_of
from keydesk_practice.control.bodies import (
    AccountState,
    KeptAccount,
    LedgerState,
    ReplayState,
    ShockState,
    State,
)
from keydesk_practice.engine.margin import unrealized_profit
from keydesk_practice.engine.state.account import Account
from keydesk_practice.http.error_responses import HttpError, not_found
from keydesk_practice.http.middleware import Authenticator, RequestMiddleware
from keydesk_practice.ledger.ledger_store import HOME, KeptLedger, LedgerStore
from keydesk_practice.options import Options


class Control(Struct, frozen=True):
    """The broker under control, and how it was started."""

    broker: Broker
    options: Options
    interface: RequestMiddleware
    store: LedgerStore
    stop: Callable[[], None] = lambda: None
    changing: asyncio.Lock = field(default_factory=asyncio.Lock)  # held by what changes the market

    @property
    def authenticator(self) -> Authenticator:
        """The tokens of the v20 interface."""
        return self.interface.authenticator

    def session(self, account: str) -> AccountSession:
        """Return the session of an account; raise a 404 `HttpError` for an unknown one."""
        session = self.broker.sessions.get(account)
        if session is None:
            known = ", ".join(sorted(self.broker.sessions))
            raise HttpError(404, f"There is no account {account}: use one of {known}")
        return session

    def shown(self, real_time: int) -> int:
        """Return the time that clients see for a real one."""
        anonymizer = self.broker.anonymizer
        return real_time if anonymizer is None else real_time + anonymizer.delta

    def real(self, shown_time: int) -> int:
        """Return the real time of one that clients see."""
        anonymizer = self.broker.anonymizer
        return shown_time if anonymizer is None else anonymizer.real_time(shown_time)

    def real_instrument(self, name: str) -> str:
        """Return the real name of an instrument that clients see; raise a 404 `HttpError` for an unknown one."""
        if self.broker.board.specification(name) is None:
            raise not_found("instrument", "INSTRUMENT_UNKNOWN")
        anonymizer = self.broker.anonymizer
        return name if anonymizer is None else anonymizer.instrument

    def state(self) -> State:
        """Return the market and its accounts."""
        broker = self.broker
        sessions = sorted(broker.sessions.values(), key=lambda one: one.account.id)
        return State(
            time=broker.now(),
            running=broker.clock.running,
            speed=f"{broker.clock.speed:g}",
            seed=int(broker.ledger.fact("seed") or 0),
            replay=self._replay_state(),
            shocks=self._shock_states(),
            accounts=tuple(account_state(one) for one in sessions),
            faults=self.interface.faults.profile.texts(),
            ledger_number=broker.ledger_number,
        )

    def _replay_state(self) -> ReplayState | None:
        replay = load_replay(self.broker.ledger)
        if replay is None:
            return None
        home = self._home_state()
        if replay.blind and not replay.finished:
            return ReplayState(blind=True, finished=False, home=home)
        return ReplayState(
            blind=replay.blind,
            finished=replay.finished,
            scenario=replay.scenario,
            instrument=replay.instrument,
            began=replay.began,
            real_time=self.real(self.broker.now()),
            home=home,
        )

    def _home_state(self) -> LedgerState | None:
        """Return the ledger that was left for a replay, None where there is none."""
        return next((ledger_state(one) for one in self.store.kept() if one.name == HOME), None)

    def _shock_states(self) -> tuple[ShockState, ...]:
        hides = self.broker.anonymizer is not None
        return tuple(
            ShockState(
                kind=one.kind,
                begins=self.shown(one.begins),
                ends=None if one.ends is None else self.shown(one.ends),
                size=f"{one.size:g}",
                instruments=(ALIAS,) if hides and one.instruments else one.instruments,
                currency=None if hides else one.currency or None,
            )
            for one in self.broker.shocks
        )


def ledger_state(kept: KeptLedger) -> LedgerState:
    """Return what a kept ledger holds."""
    left = kept.facts.get(LAST_SEEN)
    accounts = json.loads(kept.facts.get(ACCOUNTS_LEFT, "[]"))
    return LedgerState(
        name=kept.name,
        what=_content(kept),
        bytes=kept.size,
        left=None if left is None else int(left),
        accounts=tuple(
            KeptAccount(**{**one, "balance": Decimal(one["balance"])}) for one in accounts
        ),
    )


def _content(kept: KeptLedger) -> str:
    replay = replay_of(kept.facts)
    if replay is None:
        return "account" if kept.facts else "cannot be read"
    if replay.blind and not replay.finished:
        return "blind replay"
    named = replay.scenario or replay.instrument
    return f"replay {named}" if named else "replay"


def account_state(session: AccountSession) -> AccountState:
    """Return an account and its numbers at present prices."""
    state, account = session.state, session.account
    return AccountState(
        id=account.id,
        owner=account.owner,
        currency=account.currency,
        hedging=account.hedging,
        fifo=account.fifo,
        balance=state.balance,
        nav=state.balance + unrealized_profit(state, session.board),
        open_trades=len(state.trades),
        pending_orders=len(state.orders),
        last_transaction=session.last_transaction_id,
        alias=state.alias,
        paid_in=state.balance - _booked(state),
        last_fill=state.last_order_fill_time,
    )


def _booked(state: Account) -> Decimal:
    """Return what trading, financing and fees added to the balance."""
    fees = state.commission + state.guaranteed_execution_fees
    return state.pl + state.financing + state.dividend_adjustment - fees
