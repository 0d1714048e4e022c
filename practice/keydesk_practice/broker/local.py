"""A broker of one process: its clock is its own, so that the market can be paused, moved on and begun anew."""

from collections.abc import Callable, Sequence

from keydesk_practice.broker.broker import Broker
from keydesk_practice.broker.clock import GRID, Clock
from keydesk_practice.broker.disguise import Disguise
from keydesk_practice.ledger.group_commit import GroupCommit
from keydesk_practice.ledger.interface import LedgerInterface
from keydesk_practice.market.market import PracticeMarket
from keydesk_practice.market.shocks import Shock


class LocalBroker(Broker):
    """A broker that sets the market's time; that of a cluster stands in its database."""

    clock: Clock

    def __init__(
        self,
        ledger: LedgerInterface,
        make_market: Callable[[], PracticeMarket],
        clock: Clock,
        since: int,
        *,
        price_rate: float,
        overlay: tuple[Sequence[Shock], Disguise | None] = ((), None),
    ) -> None:
        super().__init__(ledger, make_market, clock, since, price_rate=price_rate, overlay=overlay)

    async def advance(self, until: int, step: int = GRID) -> None:
        """Move the market on to a time, at every multiple of `step` on the way; the clock goes on from there."""
        async with self._stepping:
            await self._simulate(self._steps_until(until, step))
            self.clock.set(max(until, self._ticked_until))
        self.prices.publish()

    def adopt_ledger(
        self,
        ledger: LedgerInterface,
        since: int,
        overlay: tuple[Sequence[Shock], Disguise | None] = ((), None),
    ) -> None:
        """Go on with another ledger, without its accounts, from a time; the former one is committed and closed."""
        on_failure = self.commits.on_failure
        self.ledger, self.sessions = ledger, {}
        self.ledger_number += 1
        self.commits = GroupCommit(ledger, self._publish)
        self.commits.on_failure = on_failure
        self.clock.set(since)
        self._ticked_until = since
        self.board.restart(self._overlaid(*overlay), since)
