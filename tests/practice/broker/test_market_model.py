"""A ledger that was kept with an earlier market model stays readable and goes on with the present one."""

import logging
from pathlib import Path

import pytest

from keydesk_practice.broker.startup import MODEL, open_broker
from keydesk_practice.ledger.sqlite_ledger import SqliteLedger
from keydesk_practice.market.practice_market import MARKET_MODEL
from keydesk_practice.options import Options
from support.data.practice_market import instant


def options(folder: Path) -> Options:
    return Options(command="serve", data=folder, start=instant("2024-05-16T12:00Z"))


def test_a_new_ledger_has_the_present_model_and_nothing_to_say(tmp_path: Path) -> None:
    for _ in range(2):
        broker = open_broker(options(tmp_path), owners=1)
        assert broker.earlier_model is None
        broker.close()
    ledger = SqliteLedger.open(tmp_path)
    assert ledger.fact(MODEL) == str(MARKET_MODEL)
    ledger.close()


def test_a_ledger_of_an_earlier_model_opens_once_with_a_word_about_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    open_broker(options(tmp_path), owners=1).close()
    ledger = SqliteLedger.open(tmp_path)
    ledger.set_fact(MODEL, "1")
    ledger.close()
    with caplog.at_level(logging.WARNING):
        broker = open_broker(options(tmp_path), owners=1)
    assert broker.earlier_model == 1
    assert len(broker.accounts_of(owner=0)) == 2
    broker.close()
    assert "market model 1" in caplog.text
    again = open_broker(options(tmp_path), owners=1)
    assert again.earlier_model is None
    again.close()
