"""Pictures of the desk on fixed data: few, fixed size, nothing flashing."""

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.app import App

from keydesk.trading.desk_session import DeskLock
from support.data.desk_data import desk_store
from support.fakes.desk_app import DeskApp
from support.fakes.working_desk import WorkingDesk

Compare = Callable[..., bool]
FORMS = {  # the keys that open each, on a desk with open trades and an entry order
    "ticket": ("B",),
    "protection": ("g", "t", "M"),
    "close": ("g", "t", "C"),
    "move": ("g", "o", "M"),
    "help": ("question_mark",),
}
SIZES = {"small": (80, 24), "standard": (120, 35), "large": (200, 50)}


@pytest.mark.parametrize("layout", SIZES)
def test_the_desk_looks_as_it_did(layout: str, snap_compare: Compare) -> None:
    app: App[None] = DeskApp(desk_store(60 if layout == "large" else 18))
    assert snap_compare(app, terminal_size=SIZES[layout])


def test_the_light_desk_looks_as_it_did(snap_compare: Compare) -> None:
    assert snap_compare(DeskApp(desk_store(18), "light"), terminal_size=SIZES["standard"])


@pytest.mark.parametrize(
    "form", [pytest.param(form, marks=[pytest.mark.e2e] * (form != "ticket")) for form in FORMS]
)
def test_the_body_of_a_form_looks_as_it_did(
    form: str, tmp_path: Path, snap_compare: Compare
) -> None:
    app = WorkingDesk(DeskLock.of(tmp_path, "practice"))
    assert snap_compare(app, press=FORMS[form], terminal_size=SIZES["standard"])
