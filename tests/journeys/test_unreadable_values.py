"""Numbers that cannot be read in any answer: the desk says how many, goes on, and is whole again by itself."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.broker import PracticeServer
from support.confirming import confirm
from support.proxies.poisoning_proxy import Poison, PoisoningProxy, poisoning_proxy
from support.signing_in import Home
from support.terminal import Terminal, keydesk

SIZES = ((80, 24), (120, 35), (200, 50))


def both_streams_deliver(terminal: Terminal) -> bool:
    """Whether both are current: ok, or SLOW on a busy machine."""
    text = terminal.text
    return all(
        f"{stream} ok" in text or f"{stream} SLOW" in text for stream in ("prices", "events")
    )


def watch_the_desk(
    home: Home, profile: list[str], proxy: PoisoningProxy, sizes: Sequence[tuple[int, int]]
) -> None:
    with Terminal(keydesk(*profile), sizes[0], home.env) as terminal:
        terminal.see("prices ok")
        terminal.see("Trades 1")
        for size in sizes:
            terminal.resize(*size)
            proxy.poison = Poison(seed=size[0], active=True, often=0.0, numbers=0.5)
            terminal.see("unreadable")
            terminal.press("j", "k", "g", "t")
            assert terminal.is_running
            proxy.poison = Poison()
            terminal.until(lambda: both_streams_deliver(terminal), what="both streams")
        terminal.see("Trades 1")
        terminal.press("C")
        terminal.see("CLOSE")
        confirm(terminal)
        terminal.see("No trades.")
        terminal.quit()
        assert terminal.wait_for_exit() == 0


@pytest.mark.soak
@pytest.mark.parametrize("sizes", [SIZES[:1], SIZES], ids=len)
async def test_no_number_ends_prices_or_account_for_good(
    practice: PracticeServer, tmp_path: Path, sizes: Sequence[tuple[int, int]]
) -> None:
    home = Home(tmp_path / "home")
    order = {"type": "MARKET", "instrument": "EUR_USD", "units": "1000"}
    assert (await practice.send("POST", "{a}/orders", {"order": order})).status_code == 201
    with poisoning_proxy(practice, Poison()) as proxy:
        home.signed_in("main", practice, rest_url=proxy.url, stream_url=proxy.url)
        profile = ["--profile", "main", *home.unlocked]
        await asyncio.to_thread(watch_the_desk, home, profile, proxy, sizes)
        assert proxy.faults == []
