"""Which reply a request gets: rules set by the test, the first that fits wins."""

from typing import Any

from messages_api.content import requested_schema, strings_in, user_data, user_text
from messages_api.schema_rules import property_names

DEFAULT: dict[str, Any] = {"echo_schema": True}


class Script:
    """Rules ``{"match", "schema_has", "then", "times"}``, all but ``then`` optional."""

    def __init__(self, *rules: dict[str, Any]) -> None:
        self._rules = [dict(rule) for rule in rules]

    def pick(self, body: dict[str, Any]) -> tuple[int | None, dict[str, Any]]:
        """Number and reply of the first rule that fits, and one use of it less; else the default."""
        said = "\n".join([user_text(body), *strings_in(user_data(body))])
        names = set(property_names(requested_schema(body)))
        for number, rule in enumerate(self._rules):
            left = rule.get("times")
            wanted = rule.get("schema_has")
            if left == 0 or rule.get("match", "") not in said or (wanted is not None and wanted not in names):
                continue
            if left is not None:
                rule["times"] = left - 1
            return number, rule["then"]
        return None, DEFAULT
