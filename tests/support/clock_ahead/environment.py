"""The environment in which a Python process has another wall clock."""

import os
from pathlib import Path

SECONDS = "KEYDESK_TEST_CLOCK_AHEAD"


def ahead_environment(seconds: int) -> dict[str, str]:
    """Return the variables by which the interpreter imports `sitecustomize` of this folder at its start."""
    if not seconds:
        return {}
    paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {"PYTHONPATH": os.pathsep.join(paths), SECONDS: str(seconds)}
