"""What typed options mean on an account: its instruments, instants in the trader's zone."""

from argparse import Namespace
from datetime import datetime, tzinfo

from keydesk.cli.account_access import OpenAccount, trader_zone
from keydesk.cli.arguments.parser import did_you_mean
from keydesk.cli.script_output import Refusal, UsageError
from keydesk.parse.instruments import find_instrument
from keydesk_client.models import DateTime


async def instrument_of(account: OpenAccount, typed: str) -> str:
    """Return the instrument of a typed name, found as on the desk's command line.

    Raises:
        Refusal: the account has no instrument of that name.
    """
    answer = await account.client.accounts.instruments()
    names = [each.name for each in answer.instruments]
    name = typed if typed in names else find_instrument(typed, names)
    if name is None:
        near = did_you_mean(typed, names)
        raise Refusal(
            f"{typed} is not an instrument of this account{near}; write it as EUR_USD or eurusd",
            "invalid",
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
