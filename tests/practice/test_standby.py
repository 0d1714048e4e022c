"""A second broker on a ledger on PostgreSQL waits, says so, takes over what was acknowledged, and shows no password."""

import asyncio
import json
import signal
import sys
from pathlib import Path

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from keydesk_practice.broker.market_clock import boot_time_ns
from support.broker import plain_client
from support.controlled_broker import ACCOUNT, controlled_broker
from support.controlled_broker import TOKEN as TOKEN_OF_CLIENT
from support.postgres import PostgresServer
from support.standby_pair import standby_pair

pytestmark = pytest.mark.e2e

pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")

TOKEN = ("--token", "a-token-of-one")
BUY = {"order": {"type": "MARKET", "instrument": "EUR_USD", "units": "100"}}


async def test_a_standby_says_so_and_executes_nothing(
    postgres: PostgresServer, practice_folder: Path
) -> None:
    async with standby_pair(practice_folder, postgres.new_database(), *TOKEN) as pair:
        standby = pair.servers["two"]
        health = await standby.http.get("/health")
        assert health.status_code == 503
        assert health.json() == {
            "status": "standby",
            "reason": "another broker serves this ledger",
        }
        for method, path in (
            ("POST", "{a}/orders"),
            ("GET", "{a}/summary"),
            ("GET", "/control/v1/state"),
            ("GET", "/v3/accounts"),
        ):
            refused = await standby.send(method, path, BUY)
            assert refused.status_code == 503
            assert refused.headers["Retry-After"] == "1"
            assert refused.json()["errorMessage"].startswith("Nothing was executed: another broker")
        assert standby.accounts == pair.servers["one"].accounts
        assert (await pair.servers["one"].http.get("/health")).json()["status"] == "ok"


async def test_a_standby_takes_over_accounts_tokens_and_the_markets_time(
    postgres: PostgresServer, practice_folder: Path
) -> None:
    async with standby_pair(practice_folder, postgres.new_database(), *TOKEN) as pair:
        first, second = pair.servers["one"], pair.servers["two"]
        bought = (await first.send("POST", "{a}/orders", BUY)).json()
        control = httpx.AsyncHTTPTransport(uds=first.rest_url.removeprefix("http+unix://"))
        token = (first.data / "control-token").read_text().strip()
        head = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(
            transport=control, base_url="http://localhost", headers=head, timeout=30.0
        ) as client:
            added = await client.post("/control/v1/tokens", json={"token": "a-token-of-another"})
            assert added.is_success, added.text
        before = (await first.get("{a}/pricing", instruments="EUR_USD")).json()["time"]
        assert await first.stop() == 0
        await pair.until("two", "ok")
        summary = (await second.get("{a}/summary")).json()
        assert summary["account"]["openTradeCount"] == 1
        assert int(summary["lastTransactionID"]) >= int(bought["lastTransactionID"])
        assert (await second.get("{a}/pricing", instruments="EUR_USD")).json()["time"] > before
        async with plain_client(second.rest_url, "a-token-of-another") as other:
            assert len((await other.get("/v3/accounts")).json()["accounts"]) == 2


async def test_a_stream_ends_when_the_lock_is_lost(
    postgres: PostgresServer, practice_folder: Path
) -> None:
    database = postgres.new_database()
    async with standby_pair(practice_folder, database, *TOKEN) as pair:
        path = f"/v3/accounts/{pair.servers['one'].account_id}/transactions/stream"
        async with pair.servers["one"].http.stream("GET", path) as stream:
            lines = stream.aiter_lines()
            await anext(lines)
            end_sessions(database)
            async for _ in lines:
                pass
        await pair.serving()


def end_sessions(database: str) -> None:
    from keydesk_practice.ledger.postgres_connection import connect  # noqa: PLC0415 - of the extra

    connection = connect(database)
    connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    connection.close()


async def test_no_password_is_shown_by_a_broker_whose_database_goes_away(
    postgres: PostgresServer, practice_folder: Path
) -> None:
    database = postgres.new_database()
    secret = practice_folder / "ledger"
    secret.write_text(database.replace("keydesk@", "keydesk:hunter22@"))
    (practice_folder / "one").mkdir(mode=0o700)
    words = ("serve", "--ledger", f"@{secret}", "--data", str(practice_folder / "one"), *TOKEN)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "keydesk_practice.__main__", *words, "--uds", str(practice_folder / "s")),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    line = await process.stdout.readline()
    said = [line.decode()]
    async with plain_client(json.loads(line)["rest_url"], "a-token-of-one") as client:
        postgres.stop()
        try:
            while (answer := await client.get("/health")).json()["status"] != "standby":
                said.append(answer.text)
            said += [answer.text, (await client.get("/v3/accounts")).text]
        finally:
            postgres.start()
    said.append(Path(f"/proc/{process.pid}/cmdline").read_text())
    process.terminate()
    out, err = await process.communicate()
    assert process.returncode == 0
    assert b"standby now" in err
    assert not any("hunter22" in text for text in (*said, out.decode(), err.decode()))


async def test_a_broker_whose_database_is_not_there_ends_with_the_reason(
    practice_folder: Path,
) -> None:
    words = ("serve", "--ledger", "postgresql://keydesk@127.0.0.1:1/none", *TOKEN)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "keydesk_practice.__main__", *words, "--data", str(practice_folder)),
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    _, said = await process.communicate()
    assert process.returncode == 1
    assert b"the ledger cannot be opened" in said


async def test_a_broker_that_stood_still_answers_nothing_from_memory(
    postgres: PostgresServer, practice_folder: Path
) -> None:
    async with standby_pair(practice_folder, postgres.new_database(), *TOKEN) as pair:
        first, second = pair.servers["one"], pair.servers["two"]
        assert (await first.get("{a}/summary")).is_success
        pair.signal("one", signal.SIGSTOP)
        stale = asyncio.create_task(first.get("{a}/summary"))
        order = asyncio.create_task(first.send("POST", "{a}/orders", BUY))
        await pair.until("two", "ok")
        assert (await second.send("POST", "{a}/orders", BUY)).status_code == 201
        pair.signal("one", signal.SIGCONT)
        assert (await stale).status_code == 503
        assert (await order).status_code == 503
        await pair.until("one", "standby")
        assert (await second.get("{a}/summary")).json()["account"]["openTradeCount"] == 1


async def test_streams_end_before_a_broker_that_stood_still_writes_to_them(
    postgres: PostgresServer, practice_folder: Path
) -> None:
    rate = ("--price-rate", "50")
    async with standby_pair(practice_folder, postgres.new_database(), *TOKEN, *rate) as pair:
        account = f"/v3/accounts/{pair.servers['one'].account_id}"
        first, second = pair.servers["one"].http, pair.servers["two"]
        prices = first.stream("GET", f"{account}/pricing/stream", params={"instruments": "EUR_USD"})
        transactions = first.stream("GET", f"{account}/transactions/stream")
        async with prices as price_stream, transactions as transaction_stream:
            pair.signal("one", signal.SIGSTOP)
            await pair.until("two", "ok")
            taken_over = (await second.get("{a}/pricing", instruments="EUR_USD")).json()["time"]
            pair.signal("one", signal.SIGCONT)
            late = [
                line
                for stream in (price_stream, transaction_stream)
                async for line in stream.aiter_lines()
                if json.loads(line)["time"] >= taken_over
            ]
        assert late == []


async def test_a_standby_goes_on_after_a_kill_from_the_market_time_that_was_shown(
    postgres: PostgresServer, practice_folder: Path
) -> None:
    own_time = ("--start", "2019-06-03T12:00Z", "--speed", "3600")
    async with standby_pair(practice_folder, postgres.new_database(), *TOKEN, *own_time) as pair:
        first, second = pair.servers["one"], pair.servers["two"]
        shown = (await first.get("{a}/pricing", instruments="EUR_USD")).json()["time"]
        await first.kill()
        await pair.until("two", "ok")
        resumes = (await second.get("{a}/pricing", instruments="EUR_USD")).json()["time"]
    assert resumes >= shown


async def test_a_read_that_began_before_a_pause_is_refused_after_it(tmp_path: Path) -> None:
    from keydesk_practice.standby import Tenure  # noqa: PLC0415 - of the extra

    async with controlled_broker(tmp_path) as market:

        async def pausing(scope: Scope, receive: Receive, send: Send) -> None:
            tenure.confirmed -= 3_600 * 10**9  # the process stood still
            await market.application(scope, receive, send)

        tenure = Tenure(market.broker, pausing, asyncio.current_task(), boot_time_ns())  # type: ignore[arg-type]

        async def answered(scope: Scope, receive: Receive, send: Send) -> None:
            await tenure.application(scope, receive, tenure.reading_sender(scope["path"], send))

        head = {"Authorization": f"Bearer {TOKEN_OF_CLIENT}"}
        transport = httpx.ASGITransport(answered)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://x", headers=head
        ) as http:
            refused = await http.get(f"{ACCOUNT}/summary")
    assert refused.status_code == 503
    assert refused.headers["Retry-After"] == "1"
    assert "account" not in refused.json()
