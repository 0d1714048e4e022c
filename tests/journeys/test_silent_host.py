"""A host that answers no request any more while its streams go on: said within seconds, and taken back when it answers."""

from pathlib import Path

from support.broker import PracticeServer
from support.proxies.silent_relay import silent_relay
from support.signing_in import Home
from support.terminal import Terminal, keydesk

SIZES = ((80, 24), (120, 35), (200, 50))


def test_a_silent_rest_host_is_told_with_its_age_at_every_size(
    practice: PracticeServer, practice_folder: Path
) -> None:
    home = Home(practice_folder / "home")
    with silent_relay(practice.rest_url) as relay:
        home.signed_in("quiet", practice, rest_url=relay.url)
        desk = keydesk("--profile", "quiet", *home.unlocked)
        with Terminal(desk, SIZES[0], home.env) as terminal:
            terminal.see("prices ok", 60)
            terminal.see("round trip", 60)
            relay.is_silent = True
            terminal.see("requests waiting")
            terminal.see("requests SLOW")
            assert "round trip" not in terminal.text
            for size in SIZES:
                terminal.resize(*size)
                terminal.see("requests DOWN")
                terminal.until(
                    lambda: any(
                        "requests DOWN" in row and "prices ok" in row for row in terminal.rows
                    )
                )
                assert "round trip" not in terminal.line_with("requests DOWN")
            relay.is_silent = False
            row = terminal.see("round trip", 90)
            assert "requests" not in row
            terminal.quit()
            assert terminal.wait_for_exit() == 0
