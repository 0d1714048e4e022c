"""What typed options mean on an account: its instruments, instants in the trader's zone."""

from argparse import Namespace
from datetime import datetime, tzinfo

from keydesk.cli.account_access import OpenAccount, trader_zone
from keydesk.cli.arguments.parser import UsageError
from keydesk.cli.runner import Refusal
from keydesk_client.models import DateTime


async def instrument_of(account: OpenAccount, typed: str) -> str:
    """Return the instrument of a typed name; one without its underscore is looked for as on the desk's command line.

    Raises:
        Refusal: the account has no instrument of that name.
    """
    if "_" in typed:
        return typed  # the broker refuses what it does not have
    from keydesk.parse.instruments import find_instrument  # noqa: PLC0415 - needed for such names only

    answer = await account.client.accounts.instruments()
    name = find_instrument(typed, (each.name for each in answer.instruments))
    if name is None:
        raise Refusal(
            f"{typed} is not an instrument of this account; write it as EUR_USD or eurusd"
        )
    return name


def instant(typed: datetime, zone: tzinfo) -> DateTime:
    """Return the instant of a typed time; without an offset it is in the trader's zone."""
    return DateTime.of(typed if typed.tzinfo else typed.replace(tzinfo=zone))


def read_period(options: Namespace) -> None:
    """Make instants of what --from and --to say; raise UsageError if the period does not end after its beginning."""
    zone = trader_zone(options)
    begin = options.from_ = None if options.from_ is None else instant(options.from_, zone)
    end = options.to = None if options.to is None else instant(options.to, zone)
    if begin is not None and end is not None and end <= begin:
        raise UsageError("--to must be later than --from")
