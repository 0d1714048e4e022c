"""Reaching an account from the shell: of a profile, or of the practice market, whose desk may be open meanwhile."""

import argparse
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from keydesk.app import open_broker
from keydesk.app.account_sources import Band, SignedIn, Target, practice_target
from keydesk.app.embedded import EmbeddedBroker
from keydesk.cli.arguments import add_passphrase_options
from keydesk.cli.choosing import profile_to_open
from keydesk.cli.refusal import Refusal
from keydesk.cli.token_place import given_passphrase, token_of
from keydesk.config import config, paths
from keydesk.config.paths import Folders
from keydesk_client.client import Client
from keydesk_client.errors import Forbidden, NotFound, Unauthorized


@dataclass(frozen=True, slots=True)
class Reached:
    """An account within reach."""

    client: Client
    target: Target
    environment: Band
    folder: Path  # of the journals

    @property
    def name(self) -> str:
        """The account in words: LIVE main account 101-001-1000001-001."""
        return f"{self.environment} {self.target.profile} account {self.target.account_id}"

    @property
    def journal(self) -> Path:
        """The journal that a desk on this account uses as well."""
        return self.folder / f"{self.target.records}.journal"

    @property
    def audit(self) -> Path:
        """The audit log that a desk on this account uses as well."""
        return self.folder / f"{self.target.records}.audit"


def account_parser(command: str, what: str) -> argparse.ArgumentParser:
    """Return a parser that knows how to name an account; without a name it is the last one, as for `keydesk`."""
    parser = argparse.ArgumentParser(
        prog=f"keydesk {command}", description=what, allow_abbrev=False
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--profile", metavar="NAME", help="the profile (default: the last one)")
    where.add_argument("--practice", action="store_true", help="the practice market")
    add_passphrase_options(parser)
    parser.add_argument("--data", metavar="DIR", help="where settings and state are kept")
    return parser


@asynccontextmanager
async def reached(options: argparse.Namespace) -> AsyncIterator[Reached]:
    """Reach the account that the options name; leaving the block leaves it."""
    folders = paths.find(options.data, os.environ)
    settings = config.load(folders.config)
    profile = profile_to_open(options.profile, settings, practice=options.practice)
    if profile is None:
        async with _practice_market(folders) as target:
            reach = _at(target, "PRACTICE", folders)
            async with reach.client:
                yield reach
        return
    given = given_passphrase(options.passphrase_fd, options.passphrase_file)
    account = SignedIn(profile, token_of(folders, profile, given))
    reach = _at(account.unasked(), account.environment, folders)
    try:
        async with reach.client:
            yield reach
    except (Unauthorized, Forbidden, NotFound) as error:
        raise Refusal(
            f"the broker refuses profile {profile.name} ({error}); is its token revoked, or the account "
            f"closed? sign in again: keydesk login {profile.name} --environment {profile.environment}"
        ) from error


def _at(target: Target, environment: Band, folders: Folders) -> Reached:
    client = Client(
        token=target.token,
        rest_url=target.rest_url,
        stream_url=target.stream_url,
        account_id=target.account_id,
    )
    return Reached(client, target, environment, folders.state / "orders")


@asynccontextmanager
async def _practice_market(folders: Folders) -> AsyncIterator[Target]:
    """Join the broker of an open desk, or start one for as long as it takes."""
    data = folders.private("practice")
    address = open_broker.find(data)
    if address is not None:
        yield practice_target(address)
        return
    broker = EmbeddedBroker.start(data)
    try:
        yield practice_target(await broker.address())
    finally:
        broker.stop()
