"""The options of the bare command `keydesk`, which opens the desk."""

from argparse import Namespace

import keydesk
from keydesk.cli.arguments.options import add_data, add_passphrase, whole_number_of
from keydesk.cli.arguments.parser import CommandParser, Verb
from keydesk.config.folders import FRAMES

PRICE_RATES = range(1, 1001)


def _add(parser: CommandParser) -> None:
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--profile", metavar="NAME", help="open this profile")
    where.add_argument("--practice", action="store_true", help="open the practice market")
    parser.add_argument(
        "--fps",
        type=whole_number_of(FRAMES),
        metavar="N",
        help="frames a second, 1 to 30 (10; use 4 on a slow link)",
    )
    parser.add_argument(
        "--theme", metavar="NAME", help="colours of the desk, such as dark, light or colour-blind"
    )
    parser.add_argument("--read-only", action="store_true", help="look only: nothing is ever sent")
    parser.add_argument(
        "--ascii",
        action="store_true",
        help="draw with ASCII only, as by itself in a locale without UTF-8",
    )
    parser.add_argument(
        "--mouse",
        action="store_true",
        help="take clicks, which choose a row, tab or pane, and the wheel; the terminal then selects text with Shift",
    )
    add_data(parser)
    parser.add_argument(
        "--price-rate",
        type=whole_number_of(PRICE_RATES),
        metavar="N",
        help="with --practice: prices a second and instrument",
    )
    add_passphrase(parser)
    parser.add_argument("--version", action="version", version=f"keydesk {keydesk.__version__}")


def _check(parser: CommandParser, options: Namespace) -> None:
    if options.price_rate is not None and not options.practice:
        parser.error("--price-rate goes with --practice")


DESK = Verb(
    "",
    "desk:open_desk",
    "A keyboard-driven trading workstation. Without a profile it opens on its own practice market.",
    _add,
    ("keydesk --practice", "keydesk --profile main --read-only"),
    _check,
)
