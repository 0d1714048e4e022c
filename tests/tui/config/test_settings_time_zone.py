"""The trader's zone: the one of the settings or the system's, with its changes to summer time and back."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keydesk.config.settings import load_settings
from keydesk.settings.time_zone import SystemZone, UnknownZone, time_zone
from keydesk.text import format as show

SECOND = 1_000_000_000
NEW_YORK = time_zone("America/New_York")


@pytest.fixture
def new_york() -> Iterator[None]:
    """The system's zone is New York's."""
    before = os.environ["TZ"]
    os.environ["TZ"] = "America/New_York"
    time.tzset()
    yield
    os.environ["TZ"] = before
    time.tzset()


def instant(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * SECOND


@pytest.mark.usefixtures("new_york")
@pytest.mark.parametrize(
    ("utc", "local"),
    [
        ("2026-03-08 06:59:59", "2026-03-08 01:59:59 EST"),
        ("2026-03-08 07:00:00", "2026-03-08 03:00:00 EDT"),
        ("2026-11-01 05:30:00", "2026-11-01 01:30:00 EDT"),
        ("2026-11-01 06:30:00", "2026-11-01 01:30:00 EST"),
    ],
)
def test_times_follow_the_system_into_summer_time_and_back(utc: str, local: str) -> None:
    assert show.date_and_time(instant(utc), time_zone("")) == local
    assert show.date_and_time(instant(utc), NEW_YORK) == local


@pytest.mark.usefixtures("new_york")
def test_the_zone_of_the_settings_goes_before_the_system(tmp_path: Path) -> None:
    at = instant("2026-07-01 12:00:00")
    assert show.date_and_time(at, load_settings(tmp_path).zone) == "2026-07-01 08:00:00 EDT"
    (tmp_path / "config.toml").write_text('timezone = "Europe/Berlin"\n')
    assert show.date_and_time(at, load_settings(tmp_path).zone) == "2026-07-01 14:00:00 CEST"


@given(st.integers(-(10**20), 10**20))
def test_every_instant_has_a_local_time(time_ns: int) -> None:
    assert show.date_and_time(time_ns, SystemZone())


@pytest.mark.usefixtures("new_york")
def test_the_first_and_the_last_instant_have_a_local_time() -> None:
    assert show.date_and_time(-(10**30), SystemZone()).lstrip("0").startswith("1-01-0")
    assert show.date_and_time(10**30, SystemZone()).startswith("9999-12-")


@given(st.text(max_size=200))
def test_a_name_is_a_zone_or_is_refused(name: str) -> None:
    with suppress(UnknownZone):
        assert datetime.now(time_zone(name)).tzinfo is not None
