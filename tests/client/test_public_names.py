"""What is public: the names of six modules, counted and listed; an import is small, and an editor lists what is meant."""

import subprocess
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest

import keydesk_client
from keydesk_client import errors, models, orders, streams, sync
from keydesk_client.models import MarketOrderRequest, Trade

PUBLIC: tuple[ModuleType, ...] = (keydesk_client, models, errors, sync, orders, streams)
MAX_NAMES = 150
NOT_OF_THE_WIRE = {"Reader", "Record", "Response", "decimal_of", "decimal_text", "granularity_of"}
"""Names of `models` that are no record, value or enumeration of the interface."""
TOP = """
    HOME UNSET AccountState Ambiguous Client Columns DateTime Done Factors FileJournal FollowSettings Gap HistoryLost
    Instrument Intent InvalidRequest ItemOutcome Journal KeydeskClientError LateEffect LatestPrice Limiter Margin NotSent
    OpenPosition OpenTrade OrderResult Outcome OverflowPolicy Paged PendingOrder PriceUpdated Reconnected Refused Rejected
    Retries Secret Sender Sending Sequencer SnapshotReloaded StreamInterrupted StreamRestored StreamSettings TimedOut
    Timeouts Timing TokenStore TransactionApplied Unconfirmed Unknown __version__ errors models open_token_store orders
    passphrase_from_file streams sync
"""
LISTS = {
    orders: """
        Action Ambiguous Done FileJournal Intent Journal MonotonicTime NotSent OrderResult Outcome Progress Rejected Sender
        Sending Unconfirmed Unknown
    """,
    streams: """
        CandleStream Gap HistoryLost Interruption OverflowPolicy PriceItem PriceStream Reconnected StreamHealth
        StreamSettings TransactionItem TransactionStream
    """,
    sync: """
        AccountEvents AccountState Accounts Books Candles Client Orders Positions Pricing Sender Trades Transactions
    """,
    keydesk_client: TOP,
}


@pytest.mark.parametrize(("module", "names"), LISTS.items(), ids=lambda each: str(each)[:30])
def test_the_public_names_are_these(module: ModuleType, names: str) -> None:
    assert sorted(module.__all__) == sorted(names.split())


@pytest.mark.parametrize("module", PUBLIC, ids=lambda each: str(each)[:30])
def test_a_public_name_is_there_and_a_module_lists_no_other(module: ModuleType) -> None:
    assert all(hasattr(module, name) for name in module.__all__)
    assert set(dir(module)) == set(module.__all__)
    assert len(module.__all__) == len(set(module.__all__))


def test_there_are_few_public_names_beside_the_records_of_the_wire() -> None:
    records = {id(getattr(models, name)) for name in set(models.__all__) - NOT_OF_THE_WIRE}
    beside = {(name, id(getattr(module, name))) for module in PUBLIC for name in module.__all__}
    counted = [name for name, made in beside if made not in records]
    assert len(counted) <= MAX_NAMES, "one that two modules have as the same object counts once"


def test_every_error_is_public() -> None:
    kinds = [each for each in vars(errors).values() if isinstance(each, type)]
    assert {each.__name__ for each in kinds if issubclass(each, errors.KeydeskClientError)} <= set(
        errors.__all__
    )


@pytest.mark.parametrize(
    "record",
    [
        MarketOrderRequest(instrument="EUR_USD", units=1),
        models.Reader(Trade).read(b'{"instrument":"EUR_USD"}'),
    ],
)
def test_an_editor_lists_members_and_methods_without_deprecated_ones_and_switches(
    record: Any,  # noqa: ANN401 - of any kind
) -> None:
    listed = set(dir(record))
    assert {"instrument", "to_wire", "row", "unknown"} <= listed
    assert not {"dict", "json", "copy", "parse_obj", "is_request", "converts_on_demand"} & listed


@pytest.mark.e2e
def test_importing_the_client_imports_few_modules_and_no_library() -> None:
    code = "import sys; before = set(sys.modules); from keydesk_client import Client; print(*set(sys.modules) - before)"
    ran = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path = {sys.path!r}; {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = ran.stdout.split()
    assert not {"pydantic", "pydantic_core", "httpx", "httpcore", "keyring"} & set(loaded)
    assert len([each for each in loaded if each.startswith("keydesk_client")]) <= 25
    assert len(loaded) <= 279 // 2 + 20  # the modules of Python differ between its versions


def test_a_name_is_the_same_object_in_every_module_that_has_it() -> None:
    for module in (orders, streams):
        for name in set(module.__all__) & set(keydesk_client.__all__):
            assert getattr(module, name) is getattr(keydesk_client, name)
    assert import_module("keydesk_client.orders").Sender is keydesk_client.Sender
