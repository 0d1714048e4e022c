"""Imports without an optional part."""

import sys
from importlib import import_module

import pytest

from keydesk_client.http.lean_import import absent


def test_a_package_seems_not_to_be_installed_inside_the_block_alone() -> None:
    sys.modules.pop("colorsys", None)
    with absent("colorsys"), pytest.raises(ModuleNotFoundError):
        import_module("colorsys")
    assert import_module("colorsys") is sys.modules["colorsys"]


def test_a_package_that_is_loaded_already_stays_as_it_is() -> None:
    loaded = import_module("colorsys")
    with absent("colorsys"):
        assert import_module("colorsys") is loaded
    assert sys.modules["colorsys"] is loaded


def test_a_failure_inside_the_block_leaves_the_package_importable() -> None:
    sys.modules.pop("colorsys", None)
    with pytest.raises(ZeroDivisionError), absent("colorsys"):
        raise ZeroDivisionError
    assert import_module("colorsys").rgb_to_hsv
