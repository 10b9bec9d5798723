"""Build the documentation as a site: python docs/site.py [FOLDER]. Needs the extra `docs`.

The pages are laid out as in the repository, so that a relative link leads to the same place on a code host, in a clone
and on the site. Warnings fail the build, and so does whatever a page would load from a network.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

HOME = Path(__file__).resolve().parent.parent
BESIDE = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "LICENSE", "action.yml", "eval_config.yml")
"""What pages link to beside docs/."""
_ELSEWHERE = r"""="?(?:https?:)?//[^">]*"""
LOADED = re.compile(
    rf"<(?:script|img|iframe|source)\b[^>]*\b(?:src|srcset){_ELSEWHERE}"
    rf"|<link\b(?=[^>]*\brel=\"?(?:stylesheet|icon|preload|preconnect))[^>]*\bhref{_ELSEWHERE}"
)
"""What a browser would fetch from elsewhere while it shows a page."""


def lay_out(pages: Path) -> None:
    """Copy what the site is made of, as it stands in the repository."""
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(HOME / "docs", pages / "docs", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    for name in BESIDE:
        shutil.copy(HOME / name, pages / name)


def navigation() -> list[dict[str, object]]:
    """The parts of docs/index.md with the pages that they link to."""
    index = (HOME / "docs" / "index.md").read_text(encoding="utf-8")
    parts: list[dict[str, object]] = [{"Overview": ["README.md", {"Documentation": "docs/index.md"}]}]
    for title, text in re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", index, re.MULTILINE | re.DOTALL):
        links = re.findall(r"\[([^\]]+)\]\((\S+?\.md)\)", text)
        parts.append({title: [{label[0].upper() + label[1:]: f"docs/{page}"} for label, page in links]})
    return [*parts, {"Project": [{name.title(): f"{name}.md"} for name in ("CONTRIBUTING", "SECURITY", "CHANGELOG")]}]


def loads_from_a_network(site: Path) -> list[str]:
    """What pages of the site would load from elsewhere."""
    pages = sorted(site.rglob("*.html"))
    return [f"{page.relative_to(site)}: {found}" for page in pages for found in LOADED.findall(page.read_text("utf-8"))]


def main() -> int:
    """Build it, and look at what came out."""
    site = Path(sys.argv[1] if len(sys.argv) > 1 else HOME / "build" / "site").resolve()
    work = site.parent / f"{site.name}-pages"
    lay_out(work / "pages")
    config = yaml.safe_load((HOME / "mkdocs.yml").read_text(encoding="utf-8"))
    config |= {"docs_dir": "pages", "site_dir": "site", "nav": navigation()}
    (work / "mkdocs.yml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict", "--config-file", "mkdocs.yml"]
    built = subprocess.run(command, cwd=work, check=False)
    shutil.rmtree(site, ignore_errors=True)
    if built.returncode == 0:
        shutil.move(work / "site", site)
    shutil.rmtree(work)
    found = loads_from_a_network(site) if built.returncode == 0 else []
    print(*(f"loaded from a network: {each}" for each in found), sep="\n", end="\n" if found else "")
    return built.returncode or bool(found)


if __name__ == "__main__":
    sys.exit(main())
