"""The layout of the packages: imports without circles, documents that name what exists."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

import grimp
import pytest

PROJECT = Path(__file__).parents[2]
PACKAGES = ("keydesk", "keydesk_client", "keydesk_practice")
SOURCES = ("tui/keydesk", "client/keydesk_client", "practice/keydesk_practice")
DOCUMENTS = sorted(
    [*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md")],
    key=lambda each: each.relative_to(PROJECT),
)
ROOTS = ("", *SOURCES, "docs", "tests")
PATH = re.compile(r"`((?:[\w.-]+/)*[\w-]+\.(?:py|md|tcss|toml)|(?:[\w.-]+/)+)`")
OF_A_USER = {
    *("config.toml", "keymap.toml", "templates.toml"),
    *("watchlists.toml", "workspaces.toml", "levels.toml"),
}


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    """The imports of the three packages, those for type checking and those inside of functions as well."""
    first, *others = PACKAGES
    return grimp.build_graph(first, *others, exclude_type_checking_imports=False, cache_dir=None)


def circles(
    nodes: Iterable[str], imports: Callable[[str], Collection[str]]
) -> Iterator[tuple[str, ...]]:
    """Yield each set of nodes that import one another; none of them can be understood or loaded alone."""
    left = {node: set(imports(node)) for node in nodes}
    while free := [node for node, found in left.items() if not found & left.keys()]:
        for node in free:  # imports nothing that is left
            del left[node]
    while free := [node for node in left if not any(node in found for found in left.values())]:
        for node in free:  # nothing that is left imports it
            del left[node]
    if left:
        yield tuple(sorted(left))


def test_a_circle_is_found() -> None:
    imports = {"a": ["b"], "b": ["c"], "c": ["b"], "d": ["a"]}
    assert list(circles(imports, lambda name: imports[name])) == [("b", "c")]


def test_no_module_imports_itself_by_way_of_others(graph: grimp.ImportGraph) -> None:
    assert list(circles(graph.modules, graph.find_modules_directly_imported_by)) == []


def test_no_folder_and_its_neighbour_import_one_another(graph: grimp.ImportGraph) -> None:
    for package in graph.modules:
        neighbours = graph.find_children(package)
        owners = {
            module: neighbour
            for neighbour in neighbours
            for module in (neighbour, *graph.find_descendants(neighbour))
        }
        imports: dict[str, set[str]] = {neighbour: set() for neighbour in neighbours}
        for module, owner in owners.items():
            for imported in graph.find_modules_directly_imported_by(module):
                if owners.get(imported, owner) != owner:
                    imports[owner].add(owners[imported])
        assert list(circles(imports, imports.__getitem__)) == []


def named_paths(line: str) -> Iterator[Path]:
    """Yield the paths that a line names; those after the first may be relative to the package or folder of the first."""
    folders = [PROJECT / root for root in ROOTS]
    for name in PATH.findall(line):
        if name in OF_A_USER:
            continue
        found = [folder / name for folder in folders if (folder / name).exists()]
        yield found[0] if found else PROJECT / name
        inside = (each for path in found for each in path.parents if each.is_relative_to(PROJECT))
        folders = [*folders, *inside]


def test_a_path_that_is_gone_is_found() -> None:
    line = "`client/keydesk_client/http/retry.py`, `limits.py`, `http/gone.py`"
    *found, gone = named_paths(line)
    assert [path.exists() for path in found] == [True, True]
    assert not gone.exists()


def test_every_path_that_a_document_names_exists() -> None:
    for document in DOCUMENTS:
        missing = [
            f"line {number}: {path.relative_to(PROJECT)}"
            for number, line in enumerate(document.read_text(encoding="utf-8").splitlines(), 1)
            for path in named_paths(line)
            if not path.exists()
        ]
        assert missing == [], document
