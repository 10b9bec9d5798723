"""Which reply a request gets: rules set by the test, the first that fits wins."""

import json
from typing import Any

from messages_api.content import requested_schema, strings_in, user_data, user_text
from messages_api.schema_rules import property_names

DEFAULT: dict[str, Any] = {"echo_schema": True}
KINDS = frozenset({"json", "text", "truncate", "refuse", "status", "slow", "drop", "echo_schema", "python", "unasked"})
_MODIFIERS = frozenset({"thinking", "model", "retry_after", "message", "error_code", "then"})
_CATEGORIES = (None, "cyber", "bio", "frontier_llm", "reasoning_extraction", "general_harms")


class ScriptError(Exception):
    """The rules of a test are not understood."""


class Script:
    """Rules ``{"match", "schema_has", "then", "times"}``, all but ``then`` optional."""

    def __init__(self, rules: Any = (), responders: frozenset[str] = frozenset()) -> None:
        if not isinstance(rules, (list, tuple)):
            raise ScriptError("the script is a list of rules")
        for rule in rules:
            _check_rule(rule, responders)
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


def _check_rule(rule: Any, responders: frozenset[str]) -> None:
    if not isinstance(rule, dict) or not rule.keys() <= {"match", "schema_has", "then", "times"}:
        raise ScriptError(f"not a rule: {json.dumps(rule)}")
    if not isinstance(rule.get("match", ""), str):
        raise ScriptError("match is a text")
    times = rule.get("times")
    if times is not None and (not isinstance(times, int) or times < 0):
        raise ScriptError("times is a number of uses, or null")
    _check_then(rule.get("then"), responders)


def _check_then(then: Any, responders: frozenset[str]) -> None:
    if not isinstance(then, dict) or len(then.keys() & KINDS) > 1 or not then.keys() <= KINDS | _MODIFIERS:
        raise ScriptError(
            f"then has at most one of {sorted(KINDS)} and any of {sorted(_MODIFIERS)}: {json.dumps(then)}"
        )
    if "then" in then:
        if "slow" not in then:
            raise ScriptError("only slow has a then of its own")
        _check_then(then["then"], responders)
    if then.get("refuse") not in _CATEGORIES:
        raise ScriptError(f"refuse is one of {_CATEGORIES}")
    if then.get("unasked", "expired") not in {"expired", "canceled"}:
        raise ScriptError("unasked, in a batch, is expired or canceled")
    if "python" in then and then["python"] not in responders:
        raise ScriptError(f"python is one of {sorted(responders)}")
    if not str(then.get("model", "loopback-")).startswith("loopback-"):
        raise ScriptError("a model of this imitation is named loopback-…")
