"""Foreign text, of servers, models and files, made harmless where it is shown."""

import re

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""What steers a terminal, turns the direction of text or hides in it; tabs and line breaks do not."""

_BREAKS = re.compile(r"\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
"""Line breaks of other systems and of pages, which move the cursor of a terminal elsewhere."""


def printable(text: str) -> str:
    """Foreign text without control, direction and invisible characters; a replacement character stands for each."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def plain(text: str) -> str:
    """Foreign text for a terminal: printable, on as many lines as it has."""
    return printable(_BREAKS.sub("\n", text))


def shortened(text: str, limit: int) -> str:
    """The text cut to this many characters, the last of them an ellipsis."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def one_line(text: str, limit: int) -> str:
    """Foreign text made printable, on one line and cut to this many characters."""
    return shortened(" ".join(printable(" ".join(text.split())).split()), limit)
