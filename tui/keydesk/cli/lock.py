"""`keydesk lock`: let a desk do nothing but exits, from a second login, until the lock is taken off."""

import argparse
import os
from collections.abc import Sequence

from keydesk.cli.arguments import parse_out_of_band
from keydesk.cli.asking import confirmed
from keydesk.cli.choosing import profile_to_open
from keydesk.cli.refusal import Refusal
from keydesk.config import config, paths
from keydesk.keys.guard import SEND
from keydesk.terminal.output import say
from keydesk.text.sanitize import safe
from keydesk.trading.desk_lock import DeskLock


def lock(words: Sequence[str]) -> int:
    """Do it; returns the exit code."""
    options = _options(words)
    folders = paths.find(options.data, os.environ)
    profile = profile_to_open(
        options.profile, config.load(folders.config), practice=options.practice
    )
    name = profile.name if profile else config.PRACTICE_MARKET
    lock = DeskLock.of(folders.private("orders"), name)
    deed = "unlock" if options.release else "lock"
    if not (options.yes or confirmed(SEND, f"{deed} {name}")):
        raise Refusal("nothing was changed")
    if options.release:
        lock.take_off()
        say(safe(f"Unlocked: a desk on {name} may be armed again with A"))
    else:
        lock.put_on()
        words = f"LOCKED: a desk on {name} closes, cancels and tightens, and opens nothing. "
        say(safe(f"{words}Take it off: keydesk lock {_named(profile)} --release"))
    return 0


def _named(profile: config.Profile | None) -> str:
    return f"--profile {profile.name}" if profile else "--practice"


def _options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="keydesk lock",
        description="Let a desk on this machine do nothing but exits.",
        allow_abbrev=False,
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--profile", metavar="NAME", help="the profile (default: the last one)")
    where.add_argument("--practice", action="store_true", help="the practice market")
    parser.add_argument("--release", action="store_true", help="take the lock off")
    parser.add_argument("--data", metavar="DIR", help="where settings and state are kept")
    return parse_out_of_band(parser, words)
