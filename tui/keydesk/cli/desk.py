"""`keydesk`: choose the account, start the practice broker if needed, and open the desk."""

import gc
import os
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING

from keydesk.app import practice_broker
from keydesk.app.account_sources import AccountSource, PracticeMarket, ProfileAccount
from keydesk.app.desk_accounts import DeskAccounts
from keydesk.app.practice_broker import STOP_SECONDS, EmbeddedBroker
from keydesk.cli.runner import desk_options, report_error, report_other_files
from keydesk.cli.script_output import Refusal
from keydesk.config.folders import DeskOptions, Folders, UnsafeFolder, find_folders, make_private
from keydesk.config.settings import load_settings, profile_to_open
from keydesk.settings.toml_text import BadSettings
from keydesk.settings.values import PRACTICE_MARKET, Settings
from keydesk.terminal.check import TerminalCheck, TerminalFacts, unusable
from keydesk.terminal.output import (
    discard_what_cannot_be_written,
    print_error,
    sanitizing_excepthook,
)
from keydesk.terminal.reset import repair_if_left
from keydesk.text.sanitize import clean, safe
from keydesk_client.auth.profiles import Profile
from keydesk_client.errors import KeydeskClientError

if TYPE_CHECKING:
    from keydesk.app.app import KeydeskApp
    from keydesk.config.tour_file import TourFile
    from keydesk.config.user_files import UserSettings
    from keydesk_client.auth.token_store import TokenStore

# Imported modules are never garbage, and collecting takes a tenth of the start; the open desk collects again.
STARTING = (500_000, 20, 50)
# Seconds that the thread which writes to the terminal waits for the interpreter while the event loop computes; by default 5 ms,
# as long as drawing a form takes.
THREAD_SWITCH = 0.0005
CHECK_INTERVAL = 0.05  # seconds
MAX_LAST_WORDS_LENGTH = 1000  # characters


def open_desk(argv: list[str]) -> int:
    """Open the desk and run it until it is left; return the exit code."""
    gc.set_threshold(*STARTING)
    sys.setswitchinterval(THREAD_SWITCH)
    # Textual reads this when it is imported; its default of 60 delays keys by a sixtieth of a second.
    os.environ.setdefault("TEXTUAL_FPS", "240")
    options = desk_options(argv)
    sys.excepthook = sanitizing_excepthook
    try:
        folders = find_folders(options.data, os.environ)
        settings = load_settings(folders.config)
        profile = profile_to_open(options.profile, settings, practice=options.practice)
        make_private(folders.state)
        account, store = _account_source(options, folders, profile)
        accounts = DeskAccounts(folders, settings, account, store, options.price_rate)
        _forget_other_sizes()
    except (Refusal, UnsafeFolder, BadSettings, KeydeskClientError, OSError) as error:
        report_error(error)
        if isinstance(error, BadSettings):
            report_other_files(error, options.data)
        return 1
    try:
        check = TerminalCheck(os.environ)
        try:
            # Heavy, and the practice broker is starting and the terminal answering meanwhile.
            import_module("keydesk.app.app")
            from keydesk.config.user_files import load_user_settings  # noqa: PLC0415

            own = load_user_settings(folders.config)
            _remember(folders, settings, profile)
        finally:
            terminal = check.facts()
        return _run(options, settings, accounts, account, own, terminal=terminal)
    except BadSettings as error:
        report_error(error)
        report_other_files(error, options.data)
        return 1
    finally:
        accounts.stop()


def _run(
    options: DeskOptions,
    settings: Settings,
    accounts: DeskAccounts,
    account: AccountSource,
    own: "UserSettings",
    *,
    terminal: TerminalFacts,
) -> int:
    """Run the desk until it is left; return the exit code."""
    from keydesk.app.app import KeydeskApp  # noqa: PLC0415 - see `open_desk`
    from keydesk.app.desk import DeskSetup  # noqa: PLC0415
    from keydesk.app.lifecycle import ForcedExit  # noqa: PLC0415
    from keydesk.config.last_workspace import WorkspaceFile  # noqa: PLC0415
    from keydesk.trading.desk_session import DeskLock  # noqa: PLC0415

    folders = accounts.folders
    if why := _trouble_with_theme(options, settings, folders, own):
        print_error(safe(f"keydesk: {clean(why, MAX_LAST_WORDS_LENGTH)}"))
        return 1
    setup = DeskSetup(
        options,
        settings,
        folders,
        account,
        own,
        forced_exit=ForcedExit(accounts.abandon, lambda: "; ".join(last_words(app))),
        lock=DeskLock.of(folders.state / "orders", account.name),
        workspace=WorkspaceFile.of(folders.state / "desk", account.name),
        tour=_tour(folders, account, options),
        terminal=terminal,
        accounts=accounts,
    )
    app = KeydeskApp(setup)
    app.run(mouse=options.mouse or settings.mouse)
    discard_what_cannot_be_written()
    for text in last_words(app):
        print_error(safe(f"keydesk: {clean(text, MAX_LAST_WORDS_LENGTH)}"))
    return app.return_code or (1 if app.last_text else 0)


def last_words(app: "KeydeskApp") -> list[str]:
    """Return what is said in the shell: why the desk ended by itself, and of each command whose outcome is not known."""
    unknown = [
        f"NOT KNOWN what became of {each.text}: it may be carried out. The next start looks it up; until then see keydesk status"
        for each in app.desk.store.in_flight.values()
    ]
    return [*([app.last_text] if app.last_text else []), *unknown]


def _trouble_with_theme(
    options: DeskOptions, settings: Settings, folders: Folders, own: "UserSettings"
) -> str:
    """Return why the chosen theme cannot be used, "" if it can."""
    themes, named = own.themes, options.theme
    if named and named not in themes.names and named not in themes.troubles:
        return f"there is no theme {named} (known: {', '.join(themes.names)})"
    return themes.trouble_with(named or settings.theme, folders.config)


def _tour(folders: Folders, account: AccountSource, options: DeskOptions) -> "TourFile":
    """Return the file of the tour, which begins by itself on the desk's own practice market alone."""
    from keydesk.config.tour_file import TourFile  # noqa: PLC0415 - see `open_desk`

    file = TourFile.of(folders.state / "desk")
    begins = file.begins and isinstance(account, PracticeMarket) and not options.read_only
    return TourFile(file.path, begins=begins)


def _account_source(
    options: DeskOptions, folders: Folders, profile: Profile | None
) -> "tuple[AccountSource, TokenStore | None]":
    """Start the practice broker, or read the profile's token and open its store while the terminal can still prompt."""
    if not (sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()):
        raise Refusal("the desk needs a terminal; over SSH ask for one with ssh -t")
    if why := unusable(os.environ):
        raise Refusal(why)
    repair_if_left(os.environ.get("TERM", ""))
    if profile is None:
        ledger = folders.private("practice")
        _refuse_a_second_desk(ledger)
        return PracticeMarket(EmbeddedBroker.start(ledger, options.price_rate), ledger), None
    if not (profile.rest_url or "").startswith("http://"):
        from keydesk_client.http.certificates import (  # noqa: PLC0415 - for a profile only
            named_certificates,
        )

        named_certificates()  # read again by each connection; a wrong one is reported here, at the prompt
    from keydesk.cli.token_access import (  # noqa: PLC0415 - keyring
        given_passphrase,
        token_and_store,
    )

    given = given_passphrase(options.passphrase_fd, options.passphrase_file)
    login = folders.login_command(profile.name)
    token, store = token_and_store(folders, profile, given)
    return ProfileAccount(profile, token, login), store


def _forget_other_sizes() -> None:
    """Remove COLUMNS and LINES where the terminal tells its size: Textual prefers them, and a shell may export old ones."""
    with suppress(OSError):
        if all(os.get_terminal_size(sys.stdout.fileno())):
            for name in ("COLUMNS", "LINES"):
                os.environ.pop(name, None)


def _refuse_a_second_desk(ledger: Path) -> None:
    """Refuse a ledger that another broker holds; a broker that is ending gets `STOP_SECONDS`."""
    until = monotonic() + STOP_SECONDS
    while practice_broker.is_ledger_locked(ledger):
        if monotonic() > until:
            raise Refusal(
                f"the practice market in {ledger} is open already, in another desk or broker: go on there, "
                "or open another market with --data DIR"
            )
        sleep(CHECK_INTERVAL)


def _remember(folders: Folders, settings: Settings, profile: Profile | None) -> None:
    """Store the profile that the bare command opens next time; ignore write errors."""
    name = profile.name if profile else PRACTICE_MARKET
    if name != settings.last_profile:
        from keydesk.config.settings import save_last_profile  # noqa: PLC0415 - rarely needed

        with suppress(OSError, BadSettings):
            save_last_profile(folders.config, name)
