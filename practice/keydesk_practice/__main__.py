"""`keydesk practice serve`, `reset`, `check` and the commands to a running broker."""

import asyncio
import logging
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper

from keydesk_practice.errors import LedgerUnavailable, PracticeError, printable
from keydesk_practice.garbage_collection import limit_pauses
from keydesk_practice.ledger.checksums import MAX_PROBLEMS
from keydesk_practice.ledger.ledger_file import (
    RECOVERY_HINT,
    check_ledger_file,
    make_private,
    move_ledger_aside,
)
from keydesk_practice.options import DESCRIPTIONS, Options, read_arguments


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 done, 1 failed; exit with 2 on wrong usage."""
    arguments = sys.argv[1:] if argv is None else argv
    replace_unknown_characters()
    try:
        code = _exit_code(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # `keydesk practice room | head`: the reader of the pipe has ended
        drop_unwritten_output()
        return 1
    except PracticeError as error:
        return _refuse(str(error))
    except OSError as error:
        drop_unwritten_output()
        named = f"{error.filename}: " if error.filename is not None else ""
        return _refuse(f"{named}{error.strerror or error}")
    return code


def _exit_code(arguments: Sequence[str]) -> int:
    """Run the command; `--help` ends it with 0, and its text may still have to be written."""
    try:
        return _run(arguments)
    except SystemExit as ended:
        if ended.code:
            raise
        return 0


def replace_unknown_characters() -> None:
    """Print `?` for what the encoding of standard output has not, such as a name in a locale without UTF-8."""
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="replace")


def drop_unwritten_output() -> None:
    """Discard what standard output does not take: Python would flush it again at exit, and exit with code 120."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refuse(text: str) -> int:
    print(f"keydesk practice: {printable(text)}", file=sys.stderr)  # noqa: T201 - the command's output
    return 1


def _run(arguments: Sequence[str]) -> int:
    if arguments and arguments[0] not in DESCRIPTIONS:
        # Imported here: the desk waits for `serve`, which needs no client of its own control interface.
        from keydesk_practice.control.command_line import (  # noqa: PLC0415
            COMMANDS,
            overview,
            run_command,
        )

        if arguments[0] in {"-h", "--help"}:
            print(overview(), end="")  # noqa: T201 - the command's output
            return 0
        if arguments[0] in COMMANDS:
            return run_command(arguments)
    options = read_arguments(arguments)
    match options.command:
        case "reset":
            return _reset(options)
        case "check":
            return _check(options)
        case _:
            return asyncio.run(_serve(options))


def _reset(options: Options) -> int:
    kept = move_ledger_aside(options.data)
    print("There was no ledger." if kept is None else f"The old ledger is kept as {kept}")  # noqa: T201 - the command's output
    return 0


def _check(options: Options) -> int:
    data = options.data
    report = check_ledger_file(data)
    size = f"accounts: {report.accounts}, transactions: {report.transactions}"
    if not report.problems:
        print(f"The ledger in {data} is undamaged: {size}")  # noqa: T201 - the command's output
        return 0
    print(f"The ledger in {data} is damaged ({size}):", file=sys.stderr)  # noqa: T201 - the command's output
    for problem in report.problems:
        print(f"  {problem}", file=sys.stderr)  # noqa: T201 - the command's output
    if len(report.problems) == MAX_PROBLEMS:
        print("  and perhaps more", file=sys.stderr)  # noqa: T201 - the command's output
    print(f"Remedy: {RECOVERY_HINT}", file=sys.stderr)  # noqa: T201 - the command's output
    return 1


async def _serve(options: Options) -> int:
    limit_pauses()  # first: otherwise garbage collection scans every module of the broker as it is loaded
    # Imported here: `--help`, `reset`, usage errors and commands to a running broker need not load the market's tables.
    from keydesk_practice.server import run_broker  # noqa: PLC0415

    level = logging.INFO if options.log_requests else logging.WARNING
    logging.basicConfig(
        level=level, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr
    )
    make_private(options.data)
    if options.ledger is not None:
        return await _serve_with_standby(options)
    return await run_broker(options)


async def _serve_with_standby(options: Options) -> int:
    try:
        import psycopg  # noqa: F401, PLC0415 - of the extra `postgres`
    except ImportError:
        raise LedgerUnavailable(
            "a ledger on PostgreSQL needs psycopg: pip install 'keydesk-practice[postgres]'"
        ) from None
    from keydesk_practice.standby import run_with_standby  # noqa: PLC0415

    return await run_with_standby(options)


if __name__ == "__main__":
    sys.exit(main())
