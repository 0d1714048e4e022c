"""The command `keydesk`: picks the command, turns every refusal into a sentence on stderr and an exit code."""

import os
import sys

NO_POSIX = "this system cannot lock files as Keydesk needs it (no module fcntl): use Linux or macOS; on Windows, WSL"


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns 0 done, 1 refused or failed, 2 usage, 130 on Ctrl-C."""
    arguments = sys.argv[1:] if argv is None else argv
    try:
        import fcntl  # noqa: F401, PLC0415 - files of orders and tokens are locked with it
    except ImportError:
        sys.stderr.write(f"keydesk: {NO_POSIX}\n")
        return 1
    _open_closed_streams()
    # Nobody here has plugins for pydantic, which would look for them in every installed package.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return 130
    except SystemExit as ended:
        if ended.code:
            raise
        from keydesk.cli.runner import flush_output  # noqa: PLC0415 - as below

        return flush_output()  # --help and --version are not written out yet


def _open_closed_streams() -> None:
    """Open the null device for closed standard streams: else a file, such as the order journal, would get their number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            lowest_free = os.open(os.devnull, os.O_RDWR)  # which is this number
            os.set_inheritable(lowest_free, True)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, closefd=False))


def _run(arguments: list[str]) -> int:
    # Imports stand here because each command pays only for what it uses: the desk paints within 300 ms.
    if arguments[:1] == ["practice"]:
        from keydesk_practice.__main__ import main as practice  # noqa: PLC0415

        return practice(arguments[1:])
    if arguments[:1] and not arguments[0].startswith("-"):
        from keydesk.cli.runner import run  # noqa: PLC0415

        return run(arguments)
    from keydesk.cli.desk import open_desk  # noqa: PLC0415

    return open_desk(arguments)


if __name__ == "__main__":
    sys.exit(main())
