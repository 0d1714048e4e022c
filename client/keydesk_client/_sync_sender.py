"""`sync.Sender`: the order protocol without `await`."""

import time
from collections.abc import Awaitable, Callable
from typing import Final

from keydesk_client._sync_bridge import Calls, SyncClient, SyncMethod, SyncResource, ThreadMethod
from keydesk_client.models._core.scalars import AnyTransactionID
from keydesk_client.orders import sender as sending
from keydesk_client.orders.journal import Journal
from keydesk_client.orders.outcome import (
    Action,
    Outcome,
    Progress,
    SteadyTime,
    new_intent_id,
    steady_time,
)
from keydesk_client.orders.protocol import Alarm
from keydesk_client.orders.reconciler import PAUSES_S


class Sender(SyncResource[sending.Sender]):
    """The order protocol without `await`: each request is sent once, and every call waits for its outcome.

    `last_transaction_id`, `on_progress` and `alarm` are called in the thread of the client (`keydesk-client`), one at a
    time, while a call waits or, for the alarm, at any time. They should pass their arguments on, to a `queue.Queue` for
    instance; calling this client or sender would deadlock and raises InvalidRequest. Several threads may use a sender.
    An interrupt ends the waiting, not the order: `recover` then returns its outcome.
    """

    def __init__(
        self,
        client: SyncClient,
        journal: Journal,
        last_transaction_id: Callable[[], AnyTransactionID],
        on_progress: Callable[[Progress], object] | None = None,
        alarm: Alarm | None = None,
        *,
        client_ids: bool = True,
        new_id: Callable[[], str] = new_intent_id,
        wall_ns: Callable[[], int] = time.time_ns,
        steady: Callable[[], SteadyTime] = steady_time,
        pauses: tuple[float, ...] = PAUSES_S,
        give_up_after: float | None = None,
        instrument_of: Callable[[Action, str], str] | None = None,
        before_return: Callable[[Outcome], Awaitable[object]] | None = None,
    ) -> None:
        sender = sending.Sender(
            client.asynchronous,
            journal,
            last_transaction_id,
            on_progress,
            alarm,
            client_ids=client_ids,
            new_id=new_id,
            wall_ns=wall_ns,
            steady=steady,
            pauses=pauses,
            give_up_after=give_up_after,
            instrument_of=instrument_of,
            before_return=before_return,
        )
        super().__init__(sender, client.calls)

    create: Final = SyncMethod(sending.Sender.create)
    replace: Final = SyncMethod(sending.Sender.replace)
    cancel: Final = SyncMethod(sending.Sender.cancel)
    close_trade: Final = SyncMethod(sending.Sender.close_trade)
    close_position: Final = SyncMethod(sending.Sender.close_position)
    set_dependent_orders: Final = SyncMethod(sending.Sender.set_dependent_orders)
    recover: Final = SyncMethod(sending.Sender.recover)
    resolve: Final = SyncMethod(sending.Sender.resolve)
    unconfirmed: Final = ThreadMethod(sending.Sender.unconfirmed)
    reconcile: Final = SyncMethod(sending.Sender.reconcile)
    watch: Final = ThreadMethod(sending.Sender.watch)


def view_of(sender: sending.Sender, calls: Calls) -> Sender:
    """Return a synchronous view of an asynchronous sender."""
    view = object.__new__(Sender)
    view.resource, view.calls = sender, calls
    return view
