"""Every example in the help of a command is typed, against one practice broker."""

import json
import shlex

import pytest

from keydesk.cli.arguments.tree import VERBS
from support.shell import Run, validate

NOT_TYPED = {  # it names a trade or an order, asks at a terminal, does not end by itself, or needs an editor, a file or a profile
    "config edit",
    "login",
    "order cancel",
    "order close",
    "order protect",
    "logout",
    "reset-terminal",
    "templates import",
    "vault passphrase",
    "watch",
}
EXAMPLES = [(verb, example) for verb in VERBS.values() for example in verb.examples]


@pytest.mark.parametrize("example", [example for _, example in EXAMPLES])
def test_an_example_runs_as_it_stands(example: str, run: Run) -> None:
    program, *words = shlex.split(example)
    [verb] = [verb for verb, own in EXAMPLES if own == example]
    assert program == "keydesk"
    if verb.words in NOT_TYPED:
        parser = verb.parser()
        verb.verify(parser, parser.read(words[len(verb.words.split()) :]))
        return
    if verb.words.startswith("order "):
        run(
            "lock", "--practice", "--release", "--yes"
        )  # the example of the lock may have been typed before
    done = run(*words)
    assert done.code == 0, done.err
    assert done.out
    if "--json" in words:
        validate(json.loads(done.out))


def test_every_command_has_an_example_and_is_found_where_the_table_says() -> None:
    from importlib import import_module  # noqa: PLC0415 - for this test

    for verb in VERBS.values():
        module, _, name = verb.run.partition(":")
        assert verb.examples
        assert callable(getattr(import_module(f"keydesk.cli.{module}"), name))
        assert f"example: {verb.examples[0]}" in verb.parser().format_help()
