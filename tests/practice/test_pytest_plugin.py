"""The pytest plugin: six lines test a bot, under xdist as well, and nothing is loaded when it is not used."""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from keydesk_practice.pytest_plugin import PracticeBroker, running_broker

pytestmark = pytest.mark.e2e

SIX_LINES = """
def test_a_stop_slips_through_the_franc(keydesk_broker):
    keydesk_broker.begin(scenario="franc")
    buy(keydesk_broker, "EUR_CHF", stopLossOnFill={"price": "1.1900"})
    keydesk_broker.step(40)
    assert float(keydesk_broker.account()["balance"]) < 99_900
"""
A_BOT = """
import json, urllib.request

def buy(broker, instrument, **members):
    order = {"type": "MARKET", "instrument": instrument, "units": "10000", **members}
    url = f"{broker.rest_url}/v3/accounts/{broker.account_id}/orders"
    headers = {"Authorization": f"Bearer {broker.token}", "Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps({"order": order}).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)
"""
OTHERS = """
import pytest

@pytest.mark.parametrize("number", range(3))
def test_every_test_begins_alike(keydesk_broker, number):
    assert keydesk_broker.state()["time"] == "2019-06-05T10:00:00.000000000Z"
    assert keydesk_broker.account()["openTrades"] == 0
    assert keydesk_broker.state()["faults"] == []
    buy(keydesk_broker, "EUR_USD")
    keydesk_broker.faults("maintenance")
"""


def test_six_lines_test_a_bot_under_xdist(tmp_path: Path) -> None:
    (tmp_path / "test_bot.py").write_text(A_BOT + SIX_LINES + OTHERS)
    plugins = ["-p", "keydesk_practice.pytest_plugin", "-p", "xdist.plugin", "-n", "2"]
    command = [sys.executable, "-m", "pytest", *plugins]
    options = ["-q", "-c", "/dev/null", "--rootdir", str(tmp_path), str(tmp_path)]
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [*command, *options], capture_output=True, text=True, check=False, env=env
    )
    assert "4 passed" in done.stdout, done.stdout + done.stderr


def test_nothing_is_loaded_before_it_is_used() -> None:
    code = """
import sys
import keydesk_practice.pytest_plugin
heavy = {"numpy", "starlette", "uvicorn", "sqlite3", "asyncio", "keydesk_practice.market"}
print(sorted(heavy & sys.modules.keys()))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_clock_the_faults_and_the_accounts_are_under_control() -> None:
    with running_broker() as broker:
        drive(broker)
        assert (broker.data / "ledger.sqlite3").exists()
        url = f"{broker.rest_url}/health"
        with urllib.request.urlopen(url) as answer:  # noqa: S310 - our own address
            assert json.load(answer)["status"] == "ok"
    assert not broker.data.exists()


def drive(broker: PracticeBroker) -> None:
    assert broker.begin("2015-01-15T09:00Z", balance="500")["time"].startswith("2015-01-15T09:00")
    assert broker.account()["balance"] == "500.0000"
    assert broker.step(2)["time"].startswith("2015-01-15T09:02")
    assert broker.jump("2015-01-15T09:10Z")["running"] is False
    assert broker.play(60)["running"] is True
    assert broker.pause()["running"] is False
    assert broker.shock("halt", "EUR_USD", seconds=30)["shocks"][0]["kind"] == "halt"
    assert broker.faults(latencyMs=5)["faults"] == ["latency 5 ms"]
    assert broker.faults()["faults"] == []
    extra = broker.add_account(currency="JPY", balance=1_000_000)
    assert broker.account(extra["id"])["currency"] == "JPY"
