"""A broker that is absent, then fails, then refuses the token, then answers: the desk says which of these it is now."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from support.broker import practice_server
from support.signing_in import Home
from support.terminal import Terminal, keydesk

TOKEN = "token-of-the-outages"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@contextmanager
def failing_broker(port: int, statuses: list[int]) -> Iterator[None]:
    """Answer every request with the last status of the list."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(statuses[-1])
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its own name
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _joined(terminal: Terminal) -> str:
    return " ".join(terminal.text.replace("│", " ").split())


def messages(terminal: Terminal, text: str) -> str:
    """Return the list of messages, in which the text is, its lines joined: a narrow window folds a message."""
    terminal.press(":")
    terminal.see("Command  ")
    terminal.type("messages")
    terminal.press("Enter")
    terminal.see("─ Messages: ")
    terminal.until(lambda: text in _joined(terminal), what=repr(text))
    shown = _joined(terminal)
    terminal.press("Escape")
    return shown


async def test_the_reason_of_an_outage_is_the_present_one_and_its_remedy_works_as_printed(
    practice_folder: Path,
) -> None:
    home, port = Home(practice_folder / "home"), free_port()
    serve = ("--port", str(port), "--token", TOKEN)
    async with practice_server(practice_folder, *serve) as practice:
        home.signed_in("two", practice)
    desk = keydesk("--profile", "two", *home.unlocked)
    with Terminal(desk, (80, 24), home.env) as terminal:
        terminal.see("connection refused ", 30)
        assert "nothing listens there" in messages(terminal, "Connection refused")
        statuses = [503]
        with failing_broker(port, statuses):
            terminal.see("broker unavailable (503)")
            assert "refused" not in terminal.rows[1]
            statuses.append(401)
            terminal.see("token refused (401)")
            shown = messages(terminal, ":login two")
            assert "its fault, not yours" in shown
        async with practice_server(practice_folder, *serve) as practice:
            terminal.see("prices ok")
            terminal.see("Connected")
            assert "token refused" not in terminal.rows[1]
            messages(terminal, "Connected")
            assert "token refused" not in terminal.rows[1]
            terminal.press(*":login two", "Enter")
            terminal.see("Token for two")
            terminal.write(practice.token.encode() + b"\r")
            terminal.see("Before you trade real money")
            terminal.press("Enter")
            terminal.see("Opened LIVE two")
            terminal.quit()
            assert terminal.wait_for_exit() == 0
