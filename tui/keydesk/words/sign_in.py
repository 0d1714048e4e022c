"""The words of signing in: where tokens are kept, and what a person reads once, at the first sign-in to real money."""

from collections.abc import Mapping
from typing import Final, LiteralString

from keydesk_client.auth.profiles import TokenPlace

TOKEN_PLACES: Mapping[TokenPlace, str] = {
    "native": "this desktop's token store",
    "vault": "an encrypted file, the token vault, which has a passphrase",
}
LIVE_SAFETY_TITLE: Final = "Before you trade real money"
LIVE_SAFETY: Final[Mapping[str, LiteralString]] = {
    "What is sent": "Nothing while you look or type. An UPPER CASE key opens an order form, which says what it would do, risk and "
    "cost; only y sends it, or the letter that it asks for where more is at stake. Each order is written to a journal first and "
    "sent exactly once; a lost answer is looked up, and the screen says what became of it.",
    "Arming": "A live desk starts disarmed: it closes, cancels and tightens, and opens nothing. Its key and the last three characters of "
    "the account id arm it. A lost connection, 15 minutes without a key, a suspended machine, a window that lost the focus "
    "and a change of account disarm it.",
    "Loss lock": "A daily loss limit locks new trades until 17:00 New York, also over a restart. It is off until you set it, as are "
    "the limits of risk, size and spread: :limits. None of them ever refuses an exit.",
    "Getting out": "One key closes a trade, another one everything on the account: ? names both. From any other terminal: keydesk flatten, keydesk flatten --all "
    "for every account, and keydesk lock makes this desk exit-only. Stops and targets rest at the broker and work without Keydesk.",
}
