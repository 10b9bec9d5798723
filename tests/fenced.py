"""The commands that README and docs show: every line of a fenced block of a shell that calls `evals`."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent
PAGES = [HOME / "README.md", HOME / "CONTRIBUTING.md", *sorted((HOME / "docs").glob("*.md"))]
_SHELL = {"", "bash", "sh", "console"}
_BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Command:
    """One call of evals on a page.

    Attributes:
        page: Name of the file.
        words: What follows `evals`, as a shell reads it, without what redirects its output.
    """

    page: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page}: evals {shlex.join(self.words)}"


def blocks(page: Path, *languages: str) -> list[str]:
    """The fenced blocks of a page in these languages, in their order."""
    found = _BLOCK.findall(page.read_text(encoding="utf-8"))
    return [text for language, text in found if language in languages]


def commands() -> list[Command]:
    """All of them, page by page."""
    lines = ((page, line) for page in PAGES for block in blocks(page, *_SHELL) for line in _joined(block))
    return [Command(page.name, words) for page, line in lines for words in calls(line)]


def _joined(block: str) -> list[str]:
    """Its lines; one that ends in a backslash goes on in the next."""
    return block.replace("\\\n", " ").splitlines()


def calls(line: str) -> list[tuple[str, ...]]:
    """The arguments of each call of evals in a line of a shell."""
    if not re.search(r"\bevals\b", line.split(" #", maxsplit=1)[0]):
        return []
    reader = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    reader.whitespace_split, reader.commenters = True, "#"
    parts: list[list[str]] = [[]]
    for word in reader:
        if set(word) <= set("|&;<>"):
            parts.append([])
        else:
            parts[-1].append(word)
    return [tuple(part[1:]) for part in map(_called, parts) if part[:1] == ["evals"]]


def _called(words: list[str]) -> list[str]:
    """The words from the program on, however it was called."""
    while words and re.fullmatch(r"\w+=.*", words[0]):
        words = words[1:]
    if words[1:3] in (["-m", "evals.cli"], ["-m", "evals"]):
        return ["evals", *words[3:]]
    return ["evals", *words[1:]] if words and Path(words[0]).name == "evals" else words
