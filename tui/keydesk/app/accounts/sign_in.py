"""Sign in and out and change the account from inside the desk: one question after another, in a worker of its own.

A token is typed into a field of dots, goes to its broker and to the token store, and is kept nowhere else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from keydesk.app.account_sources import AccountSource, CannotOpen, accounts_to_choose
from keydesk.app.accounts.all_accounts import follow_accounts
from keydesk.app.accounts.sign_in_questions import MAX_TROUBLE, SignInQuestions
from keydesk.app.desk_accounts import STORE_ERRORS, VaultIsLocked
from keydesk.config.folders import FILE
from keydesk.config.live_safety import LiveSafetyNote
from keydesk.config.settings import load_settings
from keydesk.settings.toml_text import BadSettings
from keydesk.settings.values import PRACTICE_MARKET
from keydesk.store.state import NoticeLevel
from keydesk.text.file_errors import file_trouble
from keydesk.text.format import account_tail
from keydesk.text.sanitize import Printable, SafeText, clean, safe
from keydesk_client.auth.profiles import Profile
from keydesk_client.auth.secret import Secret
from keydesk_client.errors import (
    KeydeskClientError,
    UnsafeFile,
)

if TYPE_CHECKING:
    from keydesk.app.accounts.account_window import AccountWindow
    from keydesk.app.accounts.switching import AccountSwitch
    from keydesk.forms.account.all_accounts import AccountChoice


class SignIn:
    """Signs in and out, and opens other accounts.

    Args:
        app: Shows the questions and has the accounts.
        switch: Opens another account.
    """

    def __init__(self, app: AccountWindow, switch: AccountSwitch) -> None:
        self._app, self._switch = app, switch
        self._questions = SignInQuestions(app)

    # What the command line asks for; each runs in a worker, one at a time.

    def begin(self, name: str = "") -> None:
        """Sign in: to a new profile, or with another token to one that is there."""
        self._run(self._sign_in(name), "sign in")

    def end(self, name: str = "") -> None:
        """Sign out of a profile, by default of the one that is open."""
        self._run(self._sign_out(name or self._app.source_name), "sign out")

    def choose(self) -> None:
        """Choose among the profiles and their accounts."""
        self._run(self._choose(), "choose account")

    def open(self, name: str, account_id: str = "") -> None:
        """Open the account of a profile, another one of its token, or the practice market; nothing where that is open."""
        self._run(self._open_another(name, account_id), "open account")

    async def _open_another(self, name: str, account_id: str) -> None:
        profile = self._app.accounts.settings.profiles.get(name)
        own = "" if profile is None else profile.account_id
        if self._is_open(name, account_id or own):
            self._tell("info", f"{clean(name)} is open in this desk")
        elif name == PRACTICE_MARKET and not await self._is_first_of_market(account_id):
            self._tell(
                "warn", "NOT OPENED: of the practice market the desk trades the first account"
            )
        else:
            await self._open(name, "" if account_id == own else account_id)

    async def _is_first_of_market(self, account_id: str) -> bool:
        if not account_id:
            return True
        try:
            source = await self._app.accounts.source(PRACTICE_MARKET)
            return (await source.target()).account_id == account_id
        except CannotOpen:
            return True  # opening it says why it cannot be opened

    def _is_open(self, name: str, account_id: str) -> bool:
        """Return whether an account of a profile is the one that is open."""
        target = self._app.target
        if target is None or name != self._app.source_name:
            return False
        return account_id in {"", target.account_id}

    def show_accounts(self) -> None:
        """Show every account of every profile whose token can be read, and read them again while the page is open."""
        from keydesk.forms.account.all_accounts import AllAccountsPage  # noqa: PLC0415 - with the first form

        target = self._app.target
        account_id = "" if target is None else target.account_id
        page = AllAccountsPage(self._app.source_name, account_id, self._app.desk.store)
        self._app.push_screen(page, self._open_chosen)
        reading = follow_accounts(self._app.accounts, page, self._app.screen_stack)
        self._app.run_worker(reading, "all accounts", group="pages", exit_on_error=False)

    def _open_chosen(self, chosen: AccountChoice | None) -> None:
        if chosen is not None:
            self.open(*chosen)

    def _run(self, work: Coroutine[None, None, None], name: str) -> None:
        if any(each.group == "accounts" and not each.is_finished for each in self._app.workers):
            work.close()
            self._tell("warn", "NOT DONE: another account is being opened just now")
            return
        work = self._with_profiles_of_now(work)
        self._app.run_worker(work, name, group="accounts", exit_on_error=False)

    async def _with_profiles_of_now(self, work: Coroutine[None, None, None]) -> None:
        """Read the profiles, which another desk or a command may have changed, and do the work."""
        try:
            await asyncio.to_thread(self._app.accounts.read_again)
            await work
        finally:
            work.close()  # where the worker was cancelled before it began

    def _tell(self, level: NoticeLevel, text: str) -> None:
        self._app.desk.store.notify(level, text)

    # Opening.

    async def _open(self, name: str, account_id: str = "") -> None:
        """Open an account in place of the one that is open; trades without a stop ask once."""
        from keydesk.forms.account.leaving import LeaveForm, must_ask  # noqa: PLC0415 - with the first form

        app = self._app
        source = await self._source(name, account_id)
        if source is None:
            return
        store = app.desk.store
        if must_ask(store) and not await app.push_screen_wait(LeaveForm(store)):
            return
        if await self._switch.open(source):
            await asyncio.to_thread(self._remember, name)

    async def _source(self, name: str, account_id: str = "") -> AccountSource | None:
        """Return the account, after the passphrase was asked for if it is needed; None where it cannot be opened."""
        while True:
            try:
                source: AccountSource = await self._app.accounts.source(name, account_id)
            except VaultIsLocked:
                if not await self._questions.unlock():
                    return None
            except (CannotOpen, *STORE_ERRORS) as error:
                self._tell("bad", f"NOT OPENED: {clean(str(error), MAX_TROUBLE)}")
                return None
            else:
                return source

    def _remember(self, name: str) -> None:
        from keydesk.config.settings import save_last_profile  # noqa: PLC0415 - writes with tomlkit

        with suppress(OSError, BadSettings):
            save_last_profile(self._app.accounts.folders.config, name)

    # Choosing.

    async def _choose(self) -> None:
        from keydesk.forms.account.sign_in import ProfileForm  # noqa: PLC0415 - with the first form

        profiles = self._app.accounts.profiles
        names = [PRACTICE_MARKET, *(each.name for each in profiles)]
        rows = [self._row(PRACTICE_MARKET), *(self._row(each) for each in profiles)]
        cursor = names.index(self._app.source_name) if self._app.source_name in names else 0
        hints: list[Printable] = [safe("The keyboard is disarmed on the account that opens.")]
        if not profiles:
            hints.append(safe("No profile yet: :login NAME"))
        chosen = await self._app.push_screen_wait(
            ProfileForm("Open another account", rows, hints, cursor)
        )
        if chosen is None:
            return
        name = names[chosen.row]
        if not chosen.other or name == PRACTICE_MARKET:
            await self._open(name)
        elif account_id := await self._other_account(profiles[chosen.row - 1]):
            await self._open(name, account_id)

    def _row(self, profile: Profile | str) -> SafeText:
        is_open = "●" if _name_of(profile) == self._app.source_name else " "
        if isinstance(profile, str):
            return safe(f"{is_open} PRACTICE  {PRACTICE_MARKET}")
        money = "PRACTICE" if profile.is_practice else "LIVE"
        locked = profile.kept_in == "vault" and not self._app.accounts.is_vault_open
        state = "  vault locked: asks for its passphrase" if locked else ""
        tail = clean(account_tail(profile.account_id))
        return safe(f"{is_open} {money:<8}  {clean(profile.name):<20} …{tail}{state}")

    async def _other_account(self, profile: Profile) -> str:
        """Let an account of a profile's token be chosen; return "" if none was."""
        source = await self._source(profile.name)
        if source is None:
            return ""
        try:
            token = await self._app.accounts.token(profile)
            accounts = await self._questions.waiting(accounts_to_choose(profile, token), profile)
        except (CannotOpen, KeydeskClientError) as error:
            self._tell("bad", f"NOT OPENED: {clean(str(error), MAX_TROUBLE)}")
            return ""
        return "" if accounts is None else await self._questions.chosen_account(profile, accounts)

    # Signing in.

    async def _sign_in(self, name: str) -> None:
        if not await self._can_write("NOT SIGNED IN"):  # before a token is typed
            return
        asked_for = await self._questions.asked_for(name)
        if asked_for is None:
            return
        found = await self._questions.token_and_accounts(asked_for)
        if found is None:
            return
        token, accounts = found
        ids = [each.id for each in accounts]
        account_id = asked_for.account_id if asked_for.account_id in ids else ""
        account_id = account_id or (ids[0] if len(ids) == 1 else "")
        account_id = account_id or await self._questions.chosen_account(asked_for, accounts)
        if not account_id:
            return
        profile = await self._stored(replace(asked_for, account_id=account_id), token)
        if profile is None:
            return
        self._know_profiles()
        if not profile.is_practice:
            await self._show_safety()
        await self._open(profile.name)

    async def _can_write(self, what: str) -> bool:
        """Say why profiles cannot be written: a file that is wrong is not changed, for it could not be read again."""
        from keydesk.config.file_edit import refuse_read_only  # noqa: PLC0415 - what writes is loaded then

        folder = self._app.accounts.folders.config
        try:
            await asyncio.to_thread(load_settings, folder)
            refuse_read_only(folder / FILE)
        except (BadSettings, OSError) as error:
            self._tell("bad", f"{what}: {clean(file_trouble(error, folder / FILE), MAX_TROUBLE)}")
            return False
        return True

    def _know_profiles(self) -> None:
        self._app.accounts.read_again()
        self._app.desk.look.know_profiles(self._app.accounts.settings)

    async def _stored(self, profile: Profile, token: Secret) -> Profile | None:
        """Store token and profile; None where that failed or was given up."""
        from keydesk.config.settings import save_profile  # noqa: PLC0415 - writes with tomlkit

        accounts = self._app.accounts
        known = accounts.settings.profiles.get(profile.name)
        while True:
            if not await self._can_write("NOT SIGNED IN"):
                return None
            try:
                store = await accounts.store_for(known)
                await accounts.use(
                    store, partial(store.store, profile.name, profile.environment, token)
                )
                stored = replace(profile, kept_in=store.kind)
                await asyncio.to_thread(save_profile, accounts.folders.config, stored)
            except VaultIsLocked:
                if not await self._questions.unlock():
                    return None
            except (CannotOpen, BadSettings, *STORE_ERRORS) as error:
                self._tell("bad", f"NOT SIGNED IN: {clean(str(error), MAX_TROUBLE)}")
                return None
            else:
                return stored

    async def _show_safety(self) -> None:
        """Show the page of safety, once in the life of this installation."""
        from keydesk.forms.account.sign_in import LiveSafetyPage  # noqa: PLC0415 - with the first form

        note = LiveSafetyNote.of(self._app.accounts.folders.state)
        if not note.is_shown:
            await self._app.push_screen_wait(LiveSafetyPage())
            await asyncio.to_thread(note.write)

    # Signing out.

    async def _sign_out(self, name: str) -> None:
        from keydesk.config.settings import delete_profile  # noqa: PLC0415 - writes with tomlkit
        from keydesk.forms.account.sign_in import ChoiceForm  # noqa: PLC0415 - with the first form

        accounts = self._app.accounts
        if not await self._can_write("NOT SIGNED OUT"):  # before the account is left
            return
        profile = accounts.settings.profiles.get(name)
        if profile is None:
            known = ", ".join(each.name for each in accounts.profiles) or "none yet"
            self._tell("info", f"There is no profile {clean(name)} to sign out of (known: {known})")
            return
        rows = [
            safe("stay signed in"),
            safe(f"sign out of {clean(name)}: remove profile and token"),
        ]
        hints = [
            safe("Positions, orders and stops stay as they are at the broker."),
            safe("The broker accepts the token until you revoke it there."),
        ]
        chosen = await self._app.push_screen_wait(ChoiceForm("Sign out", rows, hints))
        if chosen is None or not chosen.row:
            return
        was_open = name == self._app.source_name
        if was_open:
            await self._open(PRACTICE_MARKET)
            if self._app.source_name == name:
                self._tell("warn", f"NOT SIGNED OUT of {clean(name)}: its account is still open")
                return
        if not await self._can_write("NOT SIGNED OUT") or not await self._forget(profile):
            return
        folder = accounts.folders.config
        try:
            await asyncio.to_thread(delete_profile, folder, name)
        except (BadSettings, UnsafeFile, OSError) as error:
            why = file_trouble(error, folder / FILE)
            self._tell("bad", f"The token is gone, the profile is not: {clean(why, MAX_TROUBLE)}")
            return
        self._know_profiles()
        self._tell("info", f"Signed out of {clean(name)}: profile and token are removed")

    async def _forget(self, profile: Profile) -> bool:
        while True:
            try:
                store = await self._app.accounts.store_for(profile)
                await self._app.accounts.use(
                    store, partial(store.forget, profile.name, profile.environment)
                )
            except VaultIsLocked:
                if not await self._questions.unlock():
                    return False
            except (CannotOpen, *STORE_ERRORS) as error:
                self._tell("bad", f"NOT SIGNED OUT: {clean(str(error), MAX_TROUBLE)}")
                return False
            else:
                return True


def _name_of(profile: Profile | str) -> str:
    return profile if isinstance(profile, str) else profile.name
