"""The interpreter's own pauses in a broker: garbage collection does not stand still for what was loaded at the start."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.e2e

LARGE_ANSWERS = """
import gc
from keydesk_practice.garbage_collection import exclude_long_lived, limit_pauses

limit_pauses()
loaded = [[{"units": 1}] for _ in range(50_000)]
exclude_long_lived()
full = []
gc.callbacks.append(lambda phase, info: full.append(phase) if info["generation"] == 2 else None)
for _ in range(10):
    answer = [[{"o": 1}] for _ in range(15_000)]
print(len(full), any(one is loaded for one in gc.get_objects()))
"""


def test_ten_large_answers_cause_no_full_collection_and_nothing_loaded_is_looked_through() -> None:
    command = [sys.executable, "-c", LARGE_ANSWERS]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert said.split() == ["0", "False"]
