"""Getting out from a second login: by the order protocol, in the same journal as the desk's own orders."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic

from keydesk.cli.reaching import Reached
from keydesk.terminal.output import say, say_error
from keydesk.text.format import pair
from keydesk.text.sanitize import safe
from keydesk.trading.audit import AuditLog
from keydesk.trading.flattening import PASSES, Standing, standing_at_broker
from keydesk.trading.order_journal import open_journal
from keydesk.trading.outcome_words import Asked, said_of
from keydesk_client.orders.intent import Action
from keydesk_client.orders.outcome import Outcome
from keydesk_client.orders.sender import Sender

Part = Callable[[Standing], Standing]


async def get_out(reach: Reached, command: str, part: Part, standing: Standing) -> Standing:
    """Close and cancel what stands, look again, at most three times; returns what is left of the part."""
    journal, audit = open_journal(reach.journal), AuditLog(reach.audit)
    audit.write(command, f"from the command line: {standing.words}")
    last = await _last_transaction_id(reach, standing)  # lost answers are looked for from here on
    instruments = dict(standing.trades)
    sender = Sender(
        reach.client,
        journal,
        lambda: last,
        instrument_of=lambda action, about: (
            instruments.get(about, "") if action is Action.CLOSE_TRADE else ""
        ),
    )
    for _ in range(PASSES):
        await _wipe(sender, standing, f"keydesk {command}", audit)
        standing = part(await standing_at_broker(reach.client))
        if standing.is_flat:
            break
    audit.write(command, f"left: {standing.words or 'nothing'}")
    if audit.failed:
        say_error(safe(f"The audit log is not kept: {audit.failed}"))
    return standing


async def _last_transaction_id(reach: Reached, standing: Standing) -> int:
    if standing.last_transaction_id is not None:
        return standing.last_transaction_id
    return int((await reach.client.accounts.summary()).last_transaction_id)


async def _wipe(sender: Sender, standing: Standing, again: str, audit: AuditLog) -> None:
    closing = [
        _told(Asked(f"CLOSE #{id_} {pair(instrument)}", again), sender.close_trade(id_), audit)
        for id_, instrument in standing.trades
    ]
    cancelling = [
        _told(Asked(f"CANCEL order #{id_}", again), sender.cancel(id_), audit)
        for id_ in standing.orders
    ]
    await asyncio.gather(*closing, *cancelling)


async def _told(asked: Asked, sending: Awaitable[Outcome], audit: AuditLog) -> None:
    began = monotonic()
    outcome = await sending
    took = (monotonic() - began) * 1000
    words = said_of(outcome, Asked(asked.words, asked.again, milliseconds=took)).words
    audit.write("outcome", f"{outcome.intent.id} {words}")
    say(safe(words))
