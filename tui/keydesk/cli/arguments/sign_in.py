"""The verbs of profiles and their tokens."""

import argparse
from pathlib import Path

from keydesk.cli.arguments.options import add_data, add_json, add_passphrase
from keydesk.cli.arguments.parser import CommandParser, Verb


def _add_login(parser: CommandParser) -> None:
    from keydesk_client.auth.profiles import ENVIRONMENTS  # noqa: PLC0415 - signing in is rare

    parser.add_argument("name", metavar="NAME", type=_name, help="what to call the profile")
    parser.add_argument(
        "--environment",
        choices=ENVIRONMENTS,
        help="where the token belongs; it is never sent anywhere else",
    )
    parser.add_argument("--rest-url", type=_url, metavar="U", help="of a custom host")
    parser.add_argument("--stream-url", type=_url, metavar="U", help="of a custom host")
    parser.add_argument(
        "--practice-money",
        action="store_true",
        help="the custom host trades practice money; without it, it counts as real money: LIVE",
    )
    parser.add_argument(
        "--account", metavar="ID", help="at a terminal it may be chosen from the token's list"
    )
    add_passphrase(parser)
    add_data(parser)


def _name(text: str) -> str:
    from keydesk.parse.profile_names import is_profile_name  # noqa: PLC0415 - as above
    from keydesk.settings.values import PRACTICE_MARKET  # noqa: PLC0415 - as above

    if not is_profile_name(text) or text == PRACTICE_MARKET:
        raise argparse.ArgumentTypeError(
            "a profile's name is up to 32 letters, digits, - and _, other than practice-market"
        )
    return text


def _url(text: str) -> str:
    from keydesk_client.http.endpoint import address_of  # noqa: PLC0415 - for such an option only

    try:
        address_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _add_logout(parser: CommandParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the profile")
    add_passphrase(parser)
    add_data(parser)


def _add_vault_passphrase(parser: CommandParser) -> None:
    add_passphrase(parser)
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--new-passphrase-fd",
        type=int,
        metavar="N",
        help="read the new passphrase from this open file descriptor",
    )
    source.add_argument(
        "--new-passphrase-file",
        type=Path,
        metavar="PATH",
        help="read the new passphrase from this file (mode 0600)",
    )
    add_data(parser)


def _add_profiles(parser: CommandParser) -> None:
    add_data(parser)
    add_json(parser)


VERBS = (
    Verb(
        "login",
        "sign_in.login:login",
        "Sign in: the token is asked for, or read from stdin when that is no terminal.",
        _add_login,
        (
            "keydesk login main --environment practice",
            "keydesk login lab --environment custom --rest-url https://lab.example --stream-url https://lab.example --practice-money",
        ),
        more="At a terminal, what is not named is asked for, and the account is chosen from the list of the token. Of a profile that is there already, environment, addresses and account stay as they are where they are not named.",
        repeats_unknown=False,
    ),
    Verb(
        "logout",
        "sign_in.login:logout",
        "Remove a profile and its token.",
        _add_logout,
        ("keydesk logout main",),
    ),
    Verb(
        "vault passphrase",
        "sign_in.vault:change_passphrase",
        "Change the passphrase of the token vault.",
        _add_vault_passphrase,
        ("keydesk vault passphrase",),
        more="The present one is asked for, then the new one twice. The file is replaced in one step: a crash leaves a vault that one of the two opens.",
    ),
    Verb(
        "profiles",
        "sign_in.login:profiles",
        "List the profiles that are signed in.",
        _add_profiles,
        ("keydesk profiles", "keydesk profiles --json"),
    ),
)
