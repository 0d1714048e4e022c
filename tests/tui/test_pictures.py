"""Pictures of the desk on fixed data: few, fixed size, nothing flashing."""

from collections.abc import Callable

import pytest
from textual.app import App

from support.data.desk_data import desk_store
from support.fakes.desk_app import DeskApp

Compare = Callable[..., bool]
SIZES = {"deck": (80, 24), "desk": (120, 35), "cockpit": (200, 50)}


@pytest.mark.parametrize("layout", SIZES)
def test_the_desk_looks_as_it_did(layout: str, snap_compare: Compare) -> None:
    app: App[None] = DeskApp(desk_store(60 if layout == "cockpit" else 18))
    assert snap_compare(app, terminal_size=SIZES[layout])


def test_the_light_desk_looks_as_it_did(snap_compare: Compare) -> None:
    assert snap_compare(DeskApp(desk_store(18), "light"), terminal_size=SIZES["desk"])
