"""Signing in and out as a script does: the exit code, the sentence, what is kept and what is not."""

import os
import socket
import stat
import subprocess
from pathlib import Path

import pytest

from keydesk.config.settings import load_settings
from support.broker import PracticeServer
from support.signing_in import PASSPHRASE, Home, address_text, login_text
from support.terminal import keydesk


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.mark.e2e
def test_a_script_signs_in_lists_and_signs_out(desk_of_my_own: PracticeServer, home: Home) -> None:
    home.sign_in("main", desk_of_my_own)
    profile = load_settings(home.folder).profiles["main"]
    assert (profile.environment, profile.account_id) == ("custom", desk_of_my_own.account_id)
    listed = home.run("profiles").stdout
    assert "main" in listed
    assert desk_of_my_own.account_id not in listed
    assert f"…{desk_of_my_own.account_id[-4:]}" in listed
    assert "token vault" in listed

    out = home.run_program("logout", "main", *home.unlocked)
    assert (out.returncode, "its token was removed" in out.stdout) == (0, True)
    assert load_settings(home.folder).profiles == {}
    assert "No profile yet" in home.run("profiles").stdout


@pytest.mark.e2e
def test_commands_use_the_first_account_that_is_signed_in_and_keep_to_it(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    first = home.run(
        *login_text("main", desk_of_my_own), *home.unlocked, stdin=desk_of_my_own.token
    )
    assert "keydesk and its commands use it from now on" in first.stdout
    status = home.run("status", *home.unlocked)
    assert f"main  account {desk_of_my_own.account_id}" in status.stdout
    assert not (home.folder / "practice").exists(), "no other market was opened"
    second = home.run(
        *login_text("other", desk_of_my_own), *home.unlocked, stdin=desk_of_my_own.token
    )
    assert "Open it: keydesk --profile other" in second.stdout
    assert load_settings(home.folder).last_profile == "main"


@pytest.mark.e2e
def test_the_vault_keeps_the_token_and_no_other_file_shows_it(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    done = home.run(
        *login_text("main", desk_of_my_own), *home.unlocked, stdin=desk_of_my_own.token + "\n"
    )
    assert desk_of_my_own.token not in done.stdout + done.stderr
    files = home.files()
    assert {"config.toml", "tokens/tokens.vault"} <= set(files)
    for content in files.values():
        assert desk_of_my_own.token.encode() not in content
        assert PASSPHRASE.encode() not in content
    for name in files:
        assert stat.S_IMODE((home.folder / name).stat().st_mode) == 0o600


@pytest.mark.e2e
def test_a_passphrase_may_come_through_a_descriptor(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    ours, theirs = os.pipe()
    os.write(theirs, PASSPHRASE.encode() + b"\n")
    os.close(theirs)
    done = subprocess.run(
        keydesk(*login_text("main", desk_of_my_own), "--passphrase-fd", str(ours)),
        input=desk_of_my_own.token,
        text=True,
        capture_output=True,
        check=False,
        pass_fds=(ours,),
        env={**os.environ, **home.env},
    )
    os.close(ours)
    assert done.returncode == 0, done.stderr


@pytest.mark.e2e
def test_what_else_stands_in_the_settings_stays_as_it_was_written(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    home.folder.mkdir(mode=0o700)
    settings = home.folder / "config.toml"
    settings.write_text('# my desk\ntheme = "light"  # at noon\n')
    home.sign_in("main", desk_of_my_own)
    assert settings.read_text().startswith('# my desk\ntheme = "light"  # at noon\n')
    home.sign_in("other", desk_of_my_own)
    home.run("logout", "main", *home.unlocked)
    assert set(load_settings(home.folder).profiles) == {"other"}
    assert settings.read_text().startswith('# my desk\ntheme = "light"  # at noon\n')


@pytest.mark.e2e
def test_signing_in_again_replaces_the_token(desk_of_my_own: PracticeServer, home: Home) -> None:
    home.sign_in("main", desk_of_my_own)
    home.sign_in("main", desk_of_my_own)
    assert set(load_settings(home.folder).profiles) == {"main"}


@pytest.mark.e2e
def test_several_accounts_are_listed_to_choose_from(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    words = ["login", "main", *address_text(desk_of_my_own.rest_url), *home.unlocked]
    done = home.run(*words, stdin=desk_of_my_own.token)
    assert done.returncode == 1
    for account in desk_of_my_own.accounts:
        assert account.id in done.stderr
    other = home.run(*words, "--account", "101-001-9-009", stdin=desk_of_my_own.token)
    assert "has no account 101-001-9-009" in other.stderr
    assert not home.folder.exists()


@pytest.mark.e2e
def test_a_wrong_token_is_refused_and_nothing_is_kept(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    wrong = "wrong-" + "0123456789" * 3
    done = home.run(*login_text("main", desk_of_my_own), *home.unlocked, stdin=wrong)
    assert done.returncode == 1
    assert "refuses the token (401)" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert wrong not in done.stderr
    assert not home.folder.exists()


@pytest.mark.e2e
def test_a_host_that_is_not_there_is_named(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    words = ["login", "main", *address_text(f"http://127.0.0.1:{port}"), *home.unlocked]
    done = home.run(*words, stdin="a-token-of-some-length")
    assert done.returncode == 1
    assert f"could not be checked at http://127.0.0.1:{port}" in done.stderr
    assert "a-token-of-some-length" not in done.stderr


@pytest.mark.e2e
def test_a_wrong_passphrase_keeps_the_old_tokens(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    home.signed_in("main", desk_of_my_own)
    home.passphrase_file.write_text("not the passphrase\n")
    done = home.run(
        *login_text("other", desk_of_my_own), *home.unlocked, stdin=desk_of_my_own.token
    )
    assert (done.returncode, "does not open the vault" in done.stderr) == (3, True)
    assert set(load_settings(home.folder).profiles) == {"main"}


@pytest.mark.e2e
def test_without_a_terminal_the_passphrase_must_be_given(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    done = home.run(*login_text("main", desk_of_my_own), stdin=desk_of_my_own.token)
    assert done.returncode == 3
    assert "--passphrase-fd N or --passphrase-file PATH" in done.stderr


@pytest.mark.e2e
def test_a_passphrase_file_that_others_can_read_is_refused(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    home.passphrase_file.chmod(0o644)
    done = home.run(*login_text("main", desk_of_my_own), *home.unlocked, stdin=desk_of_my_own.token)
    assert (done.returncode, "chmod 600 " in done.stderr) == (1, True)


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("stdin", "code", "sentence"),
    [
        ("", 3, "no token was given"),
        ("\n", 3, "no token was given"),
        ("shorty", 2, "a token has 8 to 1024 characters"),
        ("Bearer some-token", 2, "one word of printable ASCII"),
        ("tökens-are-ascii", 2, "one word of printable ASCII"),
    ],
)
def test_what_cannot_be_a_token_is_refused_unseen(
    desk_of_my_own: PracticeServer, home: Home, stdin: str, code: int, sentence: str
) -> None:
    done = home.run(*login_text("main", desk_of_my_own), *home.unlocked, stdin=stdin)
    assert (done.returncode, sentence in done.stderr) == (code, True)
    assert not stdin.strip() or stdin.strip() not in done.stderr


@pytest.mark.e2e
def test_a_profile_does_not_change_its_environment(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    home.signed_in("main", desk_of_my_own)
    done = home.run("login", "main", "--environment", "live", stdin=desk_of_my_own.token)
    assert (done.returncode, "signed in for custom" in done.stderr) == (1, True)


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("main", "profile main is new: name its --environment"),
        ("main --environment demo", "invalid choice: 'demo'"),
        ("main --environment custom", "needs --rest-url and --stream-url"),
        ("main --environment live --rest-url https://a.test", "go with --environment custom only"),
        ("a/b --environment live", "a profile's name is"),
        ("practice-market --environment live", "other than practice-market"),
        ("main --environment custom --rest-url http://a.test --stream-url x", "https"),
        ("main s3cr3t-token --environment live", "never an argument"),
        ("main --token s3cr3t-token --environment live", "never an argument"),
    ],
)
def test_wrong_usage_ends_with_2_and_repeats_no_token(home: Home, text: str, sentence: str) -> None:
    done = home.run("login", *text.split())
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "s3cr3t-token" not in done.stderr + done.stdout


@pytest.mark.e2e
def test_an_unknown_profile_names_the_known_ones(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    home.signed_in("main", desk_of_my_own)
    done = home.run("logout", "mian", *home.unlocked)
    assert (done.returncode, "known: main" in done.stderr) == (2, True)


@pytest.mark.e2e
def test_an_unknown_command_ends_with_2(home: Home) -> None:
    done = home.run("nonsense")
    assert (done.returncode, "there is no command nonsense" in done.stderr) == (2, True)
