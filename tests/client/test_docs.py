"""The pages about the client: their examples run as they stand."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "client" / "docs"


def test_the_examples_of_editing_requests_run_one_after_the_other() -> None:
    blocks = re.findall(
        r"```python\n(.*?)```", (DOCS / "editing-requests.md").read_text(), re.DOTALL
    )
    assert len(blocks) == 2
    exec(compile("\n".join(blocks), "editing-requests.md", "exec"), {})  # noqa: S102 - our own page


@pytest.mark.parametrize("name", ["migrating", "editing-requests", "loops-and-times"])
def test_the_readme_links_to_the_page(name: str) -> None:
    assert (DOCS / f"{name}.md").exists()
    assert f"(docs/{name}.md)" in (DOCS.parent / "README.md").read_text()
