"""Build the site of the documents: `python docs/build.py` (needs the extra `docs`); the result is `build/site`.

With `--all`, first everything else that is made: completions, man page, JSON schemas, SKILL.md and llms.txt, and the recording of
the first trade (needs the extra `test`).

The site has the documents at the paths that they have here, so that their links hold in both places, and the reference of the
client, made from its docstrings. A link to nothing ends the build with 1.
"""

import inspect
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from keydesk.config.settings_files import FILES, settings_of

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "build"
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
REFERENCE = tuple(
    f"keydesk_client{part}" for part in ("", ".orders", ".streams", ".sync", ".errors", ".models")
)
MADE_BY = ("docs/build_shell_files.py", "screenshots/cast.py")
COPIED = (
    "*.md",
    "LICENSE",
    "client/README.md",
    "client/docs/*.md",
    "client/examples/*.py",
    "docs/**/*.md",
    "packaging/*",
    "practice/README.md",
    "screenshots/*.cast",
    "screenshots/**/*.svg",
)


def copy_documents() -> None:
    pages = BUILD / "pages"
    shutil.rmtree(BUILD, ignore_errors=True)
    for pattern in COPIED:
        for path in ROOT.glob(pattern):
            if path.is_file():
                target = pages / path.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)
    shutil.copy(ROOT / "docs" / "zensical.toml", BUILD)


def write_reference() -> None:
    """Write a page for each public module of the client: the names of its `__all__`, each where it is first exported."""
    written: set[object] = set()
    folder = BUILD / "pages" / "client" / "reference"
    folder.mkdir()
    for name in REFERENCE:
        module = import_module(name)
        lines = [f"# {name}", "", inspect.getdoc(module) or "", ""]
        for exported in getattr(module, "__all__", ()):
            value = getattr(module, exported)
            if (inspect.isclass(value) or inspect.isfunction(value)) and value not in written:
                written.add(value)
                lines += [f"::: {value.__module__}.{value.__qualname__}", ""]
        (folder / f"{name.rpartition('.')[2]}.md").write_text("\n".join(lines), encoding="utf-8")


def write_settings() -> None:
    """Write the page of all settings from their declarations."""
    lines = [
        "# All settings",
        "",
        "`keydesk config show` prints the same, with what is set; `config check` checks it.",
        "",
    ]
    for file in FILES.values():
        lines += [f"## {file.name}", "", f"{file.about.capitalize()}.", ""]
        lines += ["| key | usual | what it is | must be |", "|---|---|---|---|"]
        for each in settings_of(file.declaration()):
            cells = (
                f"`{each.name}`",
                f"`{each.default}`" if each.default else "",
                each.about,
                each.must,
            )
            lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
        lines.append("")
    page = BUILD / "pages" / "docs" / "all-settings.md"
    page.write_text("\n".join(lines), encoding="utf-8")


def broken_links() -> list[str]:
    """Return the links to files or folders that are not there; links between pages are checked by the build."""
    pages = BUILD / "pages"
    return [
        f"{page.relative_to(pages)}: {link}"
        for page in pages.rglob("*.md")
        for link in LINK.findall(page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()
    ]


def main() -> int:
    if sys.argv[1:] == ["--all"]:
        for script in MADE_BY:
            subprocess.run([sys.executable, ROOT / script], check=True)  # noqa: S603 - our own words
    copy_documents()
    write_reference()
    write_settings()
    if broken := broken_links():
        sys.stderr.write("links to nothing:\n" + "\n".join(broken) + "\n")
        return 1
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    return subprocess.run(command, cwd=BUILD, check=False).returncode  # noqa: S603 - our own words


if __name__ == "__main__":
    sys.exit(main())
