"""Flatten an instrument or the account: close and cancel, then check with the broker, at most three times."""

import asyncio
from collections.abc import Awaitable, Callable

from msgspec import Struct

from keydesk.store.store import Store
from keydesk.text.format import pair
from keydesk.trading.dispatcher import Dispatcher
from keydesk.trading.open_items import ENTRY_TYPES, PASSES, OpenItems, open_items_at_broker
from keydesk.words.outcomes import Level as NoticeLevel
from keydesk_client.client import Client
from keydesk_client.errors import KeydeskClientError

FLAT_WITHIN = 20.0  # seconds after which it says what is still open


class Flattening(Struct, frozen=True):
    """Flattens an instrument, or the whole account."""

    client: Client
    store: Store
    dispatcher: Dispatcher
    close_and_cancel: Callable[[OpenItems], Awaitable[None]]
    patience: float = FLAT_WITHIN

    async def run(self, instrument: str | None) -> None:
        """Close and cancel what the store shows, then what the broker reports, at most three times."""
        open_items = open_items_in_store(self.store, instrument)
        waiting = asyncio.create_task(self._say_if_slow(instrument))
        try:
            for _ in range(PASSES):
                await self.close_and_cancel(open_items)
                open_items = await open_items_at_broker(self.client, instrument)
                if open_items.is_flat:
                    break
        except KeydeskClientError as error:
            self._say_unchecked(instrument, error)
        else:
            self._say_end(instrument, open_items)
        finally:
            waiting.cancel()

    async def _say_if_slow(self, instrument: str | None) -> None:
        """Say after a while what is still open: lost answers are looked up for as long as the broker is silent."""
        await asyncio.sleep(self.patience)
        left = open_items_in_store(self.store, instrument)
        if not left.is_flat:
            why = f"NOT FLAT after {self.patience:.0f} s, answers are missing"
            self._notify("bad", instrument, f"{why}: {self._left_text(left)}")

    def _say_end(self, instrument: str | None, left: OpenItems) -> None:
        if left.is_flat:
            where = pair(instrument) if instrument else "the account"
            text = f"FLAT: {where} has no position and no entry order"
            self._notify("good", instrument, text)
        else:
            self._notify("bad", instrument, f"NOT FLAT: {self._left_text(left)}")

    def _say_unchecked(self, instrument: str | None, error: KeydeskClientError) -> None:
        """Say what is open as far as the desk knows: the answers to its closes and the events of the account."""
        left = open_items_in_store(self.store, instrument)
        if left.is_flat:
            text = "NOT CHECKED: nothing is open as far as known, but the broker did not say so"
            self._notify("warn", instrument, f"{text}: {error}")
        else:
            text = f"NOT FLAT: {self._left_text(left)}. Not checked: {error}"
            self._notify("bad", instrument, text)

    def _left_text(self, left: OpenItems) -> str:
        """Return what is open: the number and the key first, for a long list is cut."""
        again = self.dispatcher.keymap.name("flatten")
        return f"{left.count_text} still open as far as known. Again: {again}. {left.text}"

    def _notify(self, level: NoticeLevel, instrument: str | None, text: str) -> None:
        self.dispatcher.notify(level, text, sums_up=f"flatten {instrument or 'the account'}")


def open_items_in_store(store: Store, instrument: str | None) -> OpenItems:
    """Return what is open according to the store."""
    return OpenItems(
        tuple(
            (each.id, each.instrument)
            for each in store.trades.values()
            if instrument in {None, each.instrument}
        ),
        tuple(
            each.id
            for each in store.orders.values()
            if each.type in ENTRY_TYPES and instrument in {None, each.instrument}
        ),
        len(store.unread.trades),
        len(store.unread.orders),
    )
