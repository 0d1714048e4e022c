"""`keydesk`: choose the account, start the practice broker when it is the one, open the desk."""

import os
import sys

from keydesk import config, paths
from keydesk.cli.arguments import DeskOptions, desk_options
from keydesk.embedded import EmbeddedBroker


def open_desk(argv: list[str]) -> int:
    """Open the desk and stay until it is left; returns the exit code."""
    options = desk_options(argv)
    try:
        folders = paths.find(options.data, os.environ)
        settings = config.load(folders.config)
        profile = _chosen(options, settings)
        paths.make_private(folders.state)
    except (paths.UnsafeFolder, config.BadSettings, OSError) as error:
        return _refuse(str(error))
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return _refuse("the desk needs a terminal; over SSH ask for one with ssh -t")
    broker = None
    if profile is None:
        broker = EmbeddedBroker.start(folders.private("practice"), options.price_rate)
    try:
        # Textual reads this when it is imported; its default of 60 delays keys by a sixtieth of a second.
        os.environ.setdefault("TEXTUAL_FPS", "240")
        from keydesk.app import run_desk  # noqa: PLC0415 - heavy, and the broker is starting meanwhile

        return run_desk(options, settings, folders, profile, broker)
    finally:
        if broker is not None:
            broker.stop()


def _chosen(options: DeskOptions, settings: config.Settings) -> config.Profile | None:
    """Return the profile to open; None is the practice market."""
    name = options.profile or settings.last_profile
    if options.practice or name == config.PRACTICE_MARKET:
        return None
    if name not in settings.profiles:
        known = ", ".join(sorted(settings.profiles)) or "none yet"
        raise config.BadSettings(
            f"there is no profile {name!r} (known: {known}); open the practice market with --practice"
        )
    return settings.profiles[name]


def _refuse(why: str) -> int:
    print(f"keydesk: {why}", file=sys.stderr)  # noqa: T201 - this is the command's voice
    return 1
