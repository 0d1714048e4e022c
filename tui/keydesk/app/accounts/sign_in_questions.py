"""The questions of signing in: passphrase, name, environment and addresses of a profile, token, and one of its accounts.

A token is typed into a field of dots, goes to its broker and to the token store, and is kept nowhere else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from keydesk.app.account_sources import CannotOpen, accounts_to_choose, urls_of
from keydesk.app.desk_accounts import STORE_ERRORS
from keydesk.parse.profile_names import is_profile_name
from keydesk.settings.values import PRACTICE_MARKET
from keydesk.store.state import NoticeLevel
from keydesk.text.sanitize import clean, safe
from keydesk.words.sign_in import TOKEN_PLACES
from keydesk_client.auth.profiles import ENVIRONMENTS, Profile
from keydesk_client.auth.secret import Secret
from keydesk_client.errors import (
    InvalidSettings,
    KeydeskClientError,
    WrongPassphrase,
)

if TYPE_CHECKING:
    from keydesk.app.accounts.account_window import AccountWindow
    from keydesk.forms.account.sign_in import TextForm
    from keydesk.trading.accounts.token_accounts import TokenAccount

MEANINGS = {
    "practice": "practice money at the broker",
    "live": "real money at the broker: LIVE",
    "custom": "another host, by its address",
}
NAME_HINT = "Up to 32 letters, digits, - and _, such as main"
SHORTEST_PASSPHRASE = 8
AGAIN, OTHER_TOKEN = "Ask the broker again, with the same token", "Type another token"
MAX_TROUBLE = 300  # characters


class SignInQuestions:
    """Asks one question after another; None, or "", where the trader gave one up.

    Args:
        app: Shows the questions and has the accounts.
    """

    def __init__(self, app: AccountWindow) -> None:
        self._app = app

    async def unlock(self) -> bool:
        """Ask for the passphrase of the vault until it opens; return False if that was given up."""
        from keydesk.forms.account.sign_in import TextForm  # noqa: PLC0415 - with the first form

        accounts, trouble = self._app.accounts, ""
        is_new = not accounts.vault_path.exists()
        while True:
            passphrase = await (
                self._new_passphrase()
                if is_new
                else self._ask(
                    TextForm(
                        "Passphrase of the token vault",
                        [safe("Shown as dots. The vault stays open until you leave the desk.")],
                        trouble=trouble,
                        hidden=True,
                    )
                )
            )
            if passphrase is None:
                return False
            try:
                await accounts.open_vault(Secret(passphrase))
            except WrongPassphrase:
                trouble = "That passphrase does not open the vault"
            except STORE_ERRORS as error:
                self._tell("bad", f"NOT OPENED: {clean(str(error), MAX_TROUBLE)}")
                return False
            else:
                return True

    async def _new_passphrase(self) -> str | None:
        """Ask for the passphrase of a new vault, twice."""
        from keydesk.forms.account.sign_in import TextForm  # noqa: PLC0415 - with the first form

        hint = safe(
            "There is no unlocked token store of a desktop here: tokens are kept in an encrypted file, and this is "
            f"its passphrase, of {SHORTEST_PASSPHRASE} characters or more."
        )
        trouble = ""
        while True:
            first = await self._ask(
                TextForm(
                    "Choose a passphrase", [hint], trouble=trouble, hidden=True, refuse=_too_short
                )
            )
            if first is None:
                return None
            again = await self._ask(TextForm("The same passphrase again", hidden=True))
            if again is None or again == first:
                return again
            trouble = "The two passphrases differ"

    async def chosen_account(self, profile: Profile, accounts: Sequence[TokenAccount]) -> str:
        from keydesk.forms.account.sign_in import ChoiceForm  # noqa: PLC0415 - with the first form

        ids = [each.id for each in accounts]
        cursor = ids.index(profile.account_id) if profile.account_id in ids else 0
        form = ChoiceForm(
            safe(f"Accounts of {clean(profile.name)}"), [each.text for each in accounts], (), cursor
        )
        chosen = await self._app.push_screen_wait(form)
        return "" if chosen is None else ids[chosen.row]

    async def asked_for(self, name: str) -> Profile | None:
        """Ask for what is not known of a profile: its name, its environment, and the address of a custom host."""
        from keydesk.forms.account.sign_in import ChoiceForm, TextForm  # noqa: PLC0415 - with the first form

        if not name:
            form = TextForm("What to call the profile", [safe(NAME_HINT)], refuse=_wrong_name)
            name = await self._ask(form) or ""
        if not name:
            return None
        if why := _wrong_name(name):
            self._tell("warn", f"NOT SIGNED IN: {why}")
            return None
        known = self._app.accounts.settings.profiles.get(name)
        if known is not None:
            return known
        rows = [safe(f"{each:<10} {MEANINGS[each]}") for each in ENVIRONMENTS]
        hints = [safe("Where the token belongs. It is never sent anywhere else.")]
        chosen = await self._app.push_screen_wait(ChoiceForm(safe(f"Sign in: {name}"), rows, hints))
        if chosen is None:
            return None
        environment = ENVIRONMENTS[chosen.row]
        profile = Profile(name, environment, "")
        return await self._with_addresses(profile) if environment == "custom" else profile

    async def _with_addresses(self, profile: Profile) -> Profile | None:
        from keydesk.forms.account.sign_in import ChoiceForm, TextForm  # noqa: PLC0415 - with the first form

        hint = [safe("Such as https://broker.example")]
        rest = await self._ask(TextForm("Address of the host", hint, refuse=_wrong_address))
        if rest is None:
            return None
        form = TextForm(
            "Address of its streams",
            [safe("Enter: the same address as above")],
            refuse=_wrong_address,
            before=rest,
        )
        stream = await self._ask(form)
        if stream is None:
            return None
        rows = [safe("real money: LIVE, starts disarmed"), safe("practice money: PRACTICE")]
        hints = [
            safe("Choose practice money only if you know that this host trades no real money.")
        ]
        money = await self._app.push_screen_wait(ChoiceForm("What this host trades", rows, hints))
        if money is None:
            return None
        return replace(profile, rest_url=rest, stream_url=stream, practice_money=money.row == 1)

    async def token_and_accounts(
        self, profile: Profile
    ) -> tuple[Secret, Sequence[TokenAccount]] | None:
        """Ask for the token until the broker takes one; a broker that does not answer may be asked again with the same."""
        from keydesk.forms.account.sign_in import TextForm  # noqa: PLC0415 - with the first form

        trouble = ""
        known = self._app.accounts.settings.profiles.get(profile.name)
        place = TOKEN_PLACES[await self._app.accounts.place_for(known)]
        hints = [safe(f"Shown as dots, and kept in {place}. A paste is fine here.")]
        while True:
            form = TextForm(
                safe(f"Token for {clean(profile.name)}, {profile.environment}"),
                hints,
                trouble=trouble,
                refuse=_wrong_token,
                hidden=True,
            )
            typed = await self._ask(form)
            if typed is None:
                return None
            token = Secret(typed)
            try:
                accounts = await self._accounts_of(profile, token)
            except CannotOpen as error:
                trouble = str(error)
                trouble = trouble[:1].upper() + trouble[1:]
                continue
            if accounts is None:
                return None
            if accounts:
                return token, accounts
            trouble = ""

    async def _accounts_of(self, profile: Profile, token: Secret) -> Sequence[TokenAccount] | None:
        """Return the accounts of the token; () for another token, None if that was given up."""
        from keydesk.forms.account.sign_in import ChoiceForm  # noqa: PLC0415 - with the first form

        while True:
            try:
                return await self.waiting(accounts_to_choose(profile, token), profile)
            except KeydeskClientError as error:
                text = clean(str(error), MAX_TROUBLE)
            hints = [safe(f"{clean(urls_of(profile)[0])} does not answer: {text}")]
            form = ChoiceForm("The token could not be checked", [AGAIN, OTHER_TOKEN], hints)
            chosen = await self._app.push_screen_wait(form)
            if chosen is None:
                return None
            if chosen.row:
                return ()

    async def waiting(
        self, work: Coroutine[None, None, Sequence[TokenAccount]], profile: Profile
    ) -> Sequence[TokenAccount] | None:
        """Return the result of a request while a form says so and takes the keys; None if Esc gave it up."""
        from keydesk.forms.account.sign_in import WaitForm  # noqa: PLC0415 - with the first form

        asking = asyncio.ensure_future(work)
        form = WaitForm(safe(f"Asking {clean(urls_of(profile)[0])} for the accounts of the token"))

        def give_up(_: None) -> None:
            asking.cancel()

        self._app.push_screen(form, give_up)
        try:
            return await asking
        except asyncio.CancelledError:
            if form in self._app.screen_stack:  # the worker itself was cancelled
                raise
            return None
        finally:
            form.dismiss(None)

    async def _ask(self, form: TextForm) -> str | None:
        return await self._app.push_screen_wait(form)

    def _tell(self, level: NoticeLevel, text: str) -> None:
        self._app.desk.store.notify(level, text)


def _wrong_name(text: str) -> str:
    is_free = is_profile_name(text) and text != PRACTICE_MARKET
    return "" if is_free else f"A profile's name is: {NAME_HINT.lower()}"


def _too_short(text: str) -> str:
    if len(text) < SHORTEST_PASSPHRASE:
        return f"A passphrase for the vault has {SHORTEST_PASSPHRASE} characters or more"
    return ""


def _wrong_address(text: str) -> str:
    from keydesk_client.http.endpoint import address_of  # noqa: PLC0415 - loads HTTP

    try:
        address_of(text)
    except ValueError as error:
        return str(error)
    return ""


def _wrong_token(text: str) -> str:
    from keydesk_client.auth.token_store import check_token  # noqa: PLC0415 - loads keyring

    try:
        check_token(Secret(text))
    except InvalidSettings as error:
        return str(error)
    return ""
