"""The moment in which the account changes: keys typed then are dropped, and the desk that opens says so."""

from types import SimpleNamespace
from typing import cast

import pytest

from keydesk.app.account_sources import AccountAddress, ProfileAccount
from keydesk.app.accounts.account_window import AccountWindow
from keydesk.app.accounts.switching import KEYS_OF_BEFORE, AccountSwitch
from keydesk.keys.keymap import KEYMAP
from keydesk.store.store import Store
from keydesk.text.sanitize import safe
from keydesk_client.auth.profiles import Profile
from keydesk_client.auth.secret import Secret


class Source(ProfileAccount, frozen=True):
    """An account that is found at once."""

    async def target(self) -> AccountAddress:
        return self.address_offline()


def desk() -> SimpleNamespace:
    return SimpleNamespace(store=Store(), keymap=KEYMAP, close=lambda _: None)


class Window(SimpleNamespace):
    """A window whose keys come while the desk is built anew."""

    def __init__(self, *, types: bool) -> None:
        super().__init__(desk=desk(), target=None, account_name=safe("LIVE second"), workers=[])
        self.is_changing = self.are_keys_dropped = False
        self._types = types

    async def change_desk(self, _source: object, _target: object) -> None:
        self.are_keys_dropped = self._types and self.is_changing
        self.desk = desk()


@pytest.mark.parametrize("types", [True, False])
async def test_dropped_keys_are_told_on_the_desk_that_opens(types: bool) -> None:
    window = Window(types=types)
    switch = AccountSwitch(cast("AccountWindow", window))
    profile = Profile("second", "custom", "101-1", "http://r.test", "http://s.test")
    assert await switch.open(Source(profile, Secret("a" * 40), ":login second"))
    said = [each.text for each in window.desk.store.notices]
    assert (KEYS_OF_BEFORE in said) is types
    assert not window.is_changing
