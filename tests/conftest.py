"""Fixtures that every test may ask for by name."""

import pytest

pytest.register_assert_rewrite("support")
pytest_plugins = ["support.broker", "support.ssh_server"]
