"""The section `server:` of a configuration, as YAML of few lines."""

import json
import re
from collections.abc import Mapping
from typing import Any

_PLAIN = re.compile(r"[A-Za-z_/][\w./-]*", re.ASCII)
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_ON_LINES = frozenset({"map"})
"""Keys whose parts stand on lines of their own."""


def section_text(server: Mapping[str, Any]) -> str:
    """The section with a line for each part."""
    lines = ["server:"]
    for key, value in server.items():
        if key in _ON_LINES and isinstance(value, Mapping):
            lines += [f"  {key}:", *(f"    {name}: {flow(part)}" for name, part in value.items())]
        else:
            lines.append(f"  {key}: {flow(value)}")
    return "\n".join(lines) + "\n"


def flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{flow(str(key))}: {flow(item)}' for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(flow, value))}]"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return json.dumps(value, ensure_ascii=isinstance(value, str) and not value.isprintable())
