"""The command `keydesk`: picks the command, turns every refusal into a sentence on stderr and an exit code."""

import sys


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns 0 done, 1 refused or failed, 2 usage, 130 on Ctrl-C."""
    words = sys.argv[1:] if argv is None else argv
    try:
        return _run(words)
    except KeyboardInterrupt:
        return 130
    except SystemExit as ended:
        if ended.code:
            raise
        from keydesk.cli.runner import flush_output  # noqa: PLC0415 - as below

        return flush_output()  # --help and --version are not written out yet


def _run(words: list[str]) -> int:
    # Imports stand here because each command pays only for what it uses: the desk paints within 300 ms.
    if words[:1] == ["practice"]:
        from keydesk_practice.__main__ import main as practice  # noqa: PLC0415

        return practice(words[1:])
    if words[:1] and not words[0].startswith("-"):
        from keydesk.cli.runner import run  # noqa: PLC0415

        return run(words[0], words[1:])
    from keydesk.cli.desk import open_desk  # noqa: PLC0415

    return open_desk(words)


if __name__ == "__main__":
    sys.exit(main())
