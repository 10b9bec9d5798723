"""Request templates: {{question}} and other names anywhere in the strings of a JSON value."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

_NAME = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def render(template: Any, values: Mapping[str, Any]) -> Any:
    """Fill the template. Values are put in as they are: JSON encoding happens afterwards, so nothing can break out.

    Args:
        template: Any JSON value.
        values: What each {{name}} stands for; a name that is not among them stays as written. A value that is no text,
            such as a list, takes the place of a string that is nothing but its name.
    """
    if isinstance(template, str):
        if "{{" not in template:
            return template
        whole = _NAME.fullmatch(template)
        if whole and not isinstance(values.get(whole.group(1), ""), str):
            return values[whole.group(1)]
        return _NAME.sub(lambda found: _text_of(values, found), template)
    if isinstance(template, Mapping):
        return {key: render(item, values) for key, item in template.items()}
    if isinstance(template, list):
        return [render(item, values) for item in template]
    return template


def _text_of(values: Mapping[str, Any], found: re.Match[str]) -> str:
    value = values.get(found.group(1))
    return value if isinstance(value, str) else found.group(0)


def render_path(path: str, values: Mapping[str, str]) -> str:
    """Fill the template of a path. Values are quoted, so that none can lead to another path."""
    return str(render(path, {name: quote(value, safe="") for name, value in values.items()}))
