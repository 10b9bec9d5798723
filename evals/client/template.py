"""Request templates: {{question}} and other names anywhere in the strings of a JSON value."""

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

_MESSAGES = re.compile(r"\{\{\s*messages\s*\}\}")
_NAME = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def names_in(text: str) -> list[str]:
    """What the templates in a text name, in their order."""
    return _NAME.findall(text)


def whole_name(text: str) -> str | None:
    """The name that is all of a text; None where it is anything else."""
    found = _NAME.fullmatch(text)
    return found[1] if found is not None else None


def render(template: Any, values: Mapping[str, Any]) -> Any:
    """Fill the template. Values are put in as they are: JSON encoding happens afterwards, so nothing can break out.

    Args:
        template: Any JSON value.
        values: What each {{name}} stands for; a name that is not among them stays as written. A value that is no text
            replaces a string that holds nothing but its name, and stands in a longer one as JSON.
    """
    if isinstance(template, str):
        return _filled(template, values) if "{{" in template else template
    if isinstance(template, Mapping):
        return {key: render(item, values) for key, item in template.items()}
    if isinstance(template, list):
        return _filled_list(template, values)
    return template


def _filled_list(template: list[Any], values: Mapping[str, Any]) -> list[Any]:
    """A list of which an item that is nothing but {{messages}} stands for all of them."""
    filled: list[Any] = []
    for item in template:
        found = render(item, values)
        spread = isinstance(item, str) and isinstance(found, list) and _MESSAGES.fullmatch(item)
        filled += found if spread else [found]
    return filled


def _filled(template: str, values: Mapping[str, Any]) -> Any:
    whole = whole_name(template)
    if whole is not None:
        return values.get(whole, template)
    return _NAME.sub(lambda found: as_text(values.get(found[1], found[0])), template)


def as_text(value: Any) -> str:
    """The value as it stands within a text: what is no text as JSON, and nothing where there is none."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def render_texts(templates: Mapping[str, str], values: Mapping[str, Any]) -> dict[str, str]:
    """Fill templates of texts, as those of parameters, forms and headers; what is null is left out."""
    filled = {key: render(template, values) for key, template in templates.items()}
    return {key: as_text(value) for key, value in filled.items() if value is not None}


def render_path(path: str, values: Mapping[str, Any]) -> str:
    """Fill the template of a path. Values are quoted, so that none can lead to another path."""
    if "{{" not in path:  # as most are: no value need be quoted for it
        return path
    return str(render(path, {name: quote(as_text(value), safe="") for name, value in values.items()}))
