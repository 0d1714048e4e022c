"""Every form of the desk by its name, found in the modules of `keydesk.forms`; those that only other forms extend are left out."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import keydesk.forms
from keydesk.forms.modal_form import ModalForm


def form_names() -> frozenset[str]:
    """Return the names of the forms and pages."""
    for module in pkgutil.walk_packages(keydesk.forms.__path__, "keydesk.forms."):
        import_module(module.name)
    found = (each for each in _extended(ModalForm) if each.__module__.startswith("keydesk."))
    return frozenset(each.__name__ for each in found if not _is_abstract(each))


def _extended(kind: type[Any]) -> Iterator[type[Any]]:
    for each in kind.__subclasses__():
        yield each
        yield from _extended(each)


def _is_abstract(kind: type[Any]) -> bool:
    methods = (getattr(kind, name, None) for name in dir(kind))
    return any(getattr(method, "__isabstractmethod__", False) for method in methods)
