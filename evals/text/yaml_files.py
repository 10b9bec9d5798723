"""YAML files that configure something, and what is wrong with them, by key."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain, count
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from evals.errors import ConfigError
from evals.text.decoding import check_file

_MAX_BYTES = 20_000_000
"""More than any file that a person writes."""
MAX_DEPTH = 100
_MAX_VALUES = 1_000_000
"""With every alias written out."""
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_NO_PLAIN_NUMBER = re.compile(r"[-+]?(?:0[\dxb]|\d[\d_.]*[:_])")
"""YAML 1.1 makes 750 of 12:30 and 567 of the postcode 01067; people mean what they write."""
_QUOTED = re.compile(r"'[^']{2,}'")
"""What PyYAML repeats of the file, which may be a secret."""


class YamlTextError(Exception):
    """A YAML text cannot be used; the message never quotes it."""


def load_yaml(text: str) -> Any:
    """The value of a YAML text with one document; None for an empty one.

    Raises:
        YamlTextError: It is no YAML, has two keys of one name, or is beyond the limits.
    """
    if len(text) > _MAX_BYTES:
        raise YamlTextError(f"it is longer than {_MAX_BYTES:,} characters")
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        _check(node, count(1), 0)
        return loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = _QUOTED.sub("…", error.problem or error.context or "it cannot be read")
        raise YamlTextError(f"{what} (line {mark.line + 1}, column {mark.column + 1})" if mark else what) from None
    except yaml.reader.ReaderError as error:
        raise YamlTextError(f"a character that YAML does not allow, at position {error.position}") from None
    except RecursionError:
        raise YamlTextError(f"it is nested deeper than {MAX_DEPTH} levels") from None
    except (ValueError, OverflowError, TypeError, KeyError, AttributeError):
        raise YamlTextError("a date or number that there is none of; put it between quotation marks") from None


def _check(node: Node, values: Iterator[int], depth: int) -> None:
    """Refuse a key that stands twice, and a node that holds too much with every alias written out."""
    if depth > MAX_DEPTH:
        raise YamlTextError(f"it is nested deeper than {MAX_DEPTH} levels")
    if next(values) > _MAX_VALUES:
        raise YamlTextError(f"with its aliases written out it holds more than {_MAX_VALUES:,} values")
    if isinstance(node, ScalarNode):
        if node.tag in _NUMBERS and _NO_PLAIN_NUMBER.match(node.value):
            node.tag = "tag:yaml.org,2002:str"
        try:  # JSON writes a character beyond 16 bits as two escapes
            node.value = str(node.value).encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            raise YamlTextError(f"half a surrogate pair in line {node.start_mark.line + 1}") from None
    elif isinstance(node, MappingNode):
        keys = Counter((key.tag, str(key.value)) for key, _ in node.value if isinstance(key, ScalarNode))
        if twice := [name for (_, name), count in keys.items() if count > 1]:
            raise YamlTextError(f"the key {twice[0][:40]!r} stands twice")
    inside = chain.from_iterable(node.value) if isinstance(node, MappingNode) else node.value
    for child in inside if isinstance(node, MappingNode | SequenceNode) else ():
        _check(child, values, depth + 1)


class FileLayer(dict[str, Any]):
    """The keys of a YAML file, and where they were read from."""

    file: Path


def read_yaml(path: Path, what: str) -> FileLayer:
    """Read a YAML file that holds a mapping.

    Raises:
        ConfigError: It cannot be read, is no YAML or no mapping, or names a key twice.
    """
    try:
        check_file(path, most=None)
        with path.open("rb") as file:
            data = load_yaml(file.read(_MAX_BYTES + 1).decode("utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read the {what} {path}: {error.strerror}") from error
    except (YamlTextError, UnicodeDecodeError) as error:
        why = error if isinstance(error, YamlTextError) else "it is no UTF-8 text"
        raise ConfigError(f"the {what} {path} is not valid YAML: {why}") from None
    if data is not None and not isinstance(data, dict):
        raise ConfigError(f"the {what} {path} must hold keys and values, not {type(data).__name__}")
    layer = FileLayer(data or {})
    layer.file = path
    return layer


def holds(keys: Mapping[str, Any], path: str) -> bool:
    """Whether a path of keys and numbers, such as `info.0.path`, leads to something."""
    place: Any = keys
    for key in path.split("."):
        try:
            place = place[int(key)] if isinstance(place, list) else place[key]
        except (LookupError, TypeError, ValueError):
            return False
    return True


def layer_of(key: str, value: Any) -> dict[str, Any]:
    """A configuration of one key, whose parts have dots between them."""
    first, _, rest = key.partition(".")
    return {first: layer_of(rest, value) if rest else value}


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Lay one mapping over another, part by part: mappings merge, everything else replaces.

    A request body (`json`) that says where the question goes is whole and replaces the profile's; one that does not
    is laid over it, so that a single key can be changed.
    """
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        if key == "json" and (not value or any(name in str(value) for name in ("{{question}}", "{{messages}}"))):
            both = False
        merged[key] = merge(merged[key], value) if both else value
    return merged


VARIABLE = re.compile(r"\$\{(\w+)(?::-([^{}]*))?\}")
"""${NAME}: stands for a value of the environment; ${NAME:-other} for that, or for the other where it is not set."""


def is_left_out(text: str, environ: Mapping[str, str] | None = None) -> bool:
    """Whether a text holds a ${NAME:-} that nothing stands for, so that a header of it is not sent."""
    env = os.environ if environ is None else environ
    return any(other == "" and not env.get(name) for name, other in VARIABLE.findall(text) if f"${{{name}:-}}" in text)


def expand_env(value: Any, secrets: set[str], environ: Mapping[str, str] | None = None) -> Any:
    """Replace ${NAME} in all strings by the environment's value, and add each value to `secrets`.

    Of ${NAME:-other}, the other stands where NAME is not set or empty; what has another text than none is no secret.

    Raises:
        ConfigError: A variable is not set.
    """
    env = os.environ if environ is None else environ

    def substitute(found: re.Match[str]) -> str:
        name, other = found.groups()
        if other is not None and not env.get(name):
            return str(other)
        if name not in env:
            raise ConfigError(
                f"environment variable {name} is not set", f"the configuration uses ${{{name}}}: export it"
            )
        if not other:
            secrets.add(env[name])
        return env[name]

    if isinstance(value, str):
        return VARIABLE.sub(substitute, value)
    if isinstance(value, Mapping):
        return {key: expand_env(item, secrets, env) for key, item in value.items()}
    return [expand_env(item, secrets, env) for item in value] if isinstance(value, list) else value


# What is wrong with values, in words for their keys.

UNKNOWN_KEY = "unknown key"
_KINDS = {"NoneType": "nothing", "str": "a text", "int": "a number", "float": "a number", "bool": "true or false"}
_KINDS |= {"list": "a list", "tuple": "a list", "dict": "keys and values"}
_SAID = {
    "it is missing": "missing",
    "must hold keys and values, not {kind}": "model_type model_attributes_type dict_type",
    "must be a list, not {kind}": "list_type tuple_type",
    "must be a text, not {kind}": "string_type",
    "must be a text without broken characters": "string_unicode",
    "must be a path, not {kind}": "path_type",
    "must be a whole number, not {value}": "int_type int_parsing int_from_float",
    "must be a number, not {value}": "float_type float_parsing",
    "must be true or false, not {value}": "bool_type bool_parsing",
    "must be a finite number, not {value}": "finite_number",
    "must be above {gt}, not {value}": "greater_than",
    "must be at least {ge}, not {value}": "greater_than_equal",
    "must be below {lt}, not {value}": "less_than",
    "must be at most {le}, not {value}": "less_than_equal",
    "must be {expected}, not {value}": "literal_error enum",
    "must not be empty": "string_too_short",
    "must match {pattern}, as {value} does not": "string_pattern_mismatch",
    "must hold at least {min_length}": "too_short",
    "must hold at most {max_length}, not {actual_length}": "too_long",
    "{discriminator} is missing": "union_tag_not_found",
    "{discriminator} must be one of {expected_tags}, not '{tag}'": "union_tag_invalid",
}
_WORDS = {kind: words for words, kinds in _SAID.items() for kind in kinds.split()}
"""By what pydantic calls a problem; `{kind}` is the type of what was given, and `{value}` what was given."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One validation error.

    Attributes:
        key: Where, with all keys above it: `match.rule`. Empty where the whole is wrong.
        what: What is wrong with it.
        hint: What to do; None where nothing is known.
        known: The keys that the place of an unknown key has; empty for every other problem.
    """

    key: str
    what: str
    hint: str | None = None
    known: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.key}: {self.what}" if self.key else self.what


def problems_of(error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """All validation errors that pydantic found in data that was to be of this model."""
    return [_problem(dict(found), model) for found in error.errors(include_url=False)]


def first_problem(error: ValidationError, model: type[BaseModel]) -> Problem:
    """What to correct first: a key that is unknown, for it is why another is missing, else the first thing found."""
    problems = problems_of(error, model)
    return next((problem for problem in problems if problem.known), problems[0])


def nearest_hint(name: str, known: Iterable[str]) -> str:
    """The hint for an unknown name: the nearest one, or all of them."""
    names = sorted(known)
    close = get_close_matches(name, names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names)}"


def _problem(found: Mapping[str, Any], model: type[BaseModel]) -> Problem:
    key = ".".join(map(str, found["loc"]))
    if found["type"] == "extra_forbidden":
        known = tuple(keys_at(model, found["loc"][:-1]))
        return Problem(key, UNKNOWN_KEY, nearest_hint(str(found["loc"][-1]), known), known)
    context = {name: f"{each:g}" if isinstance(each, float) else each for name, each in found.get("ctx", {}).items()}
    words = _WORDS.get(found["type"])
    if words is None:  # what pydantic puts before the words of our own checks says nothing to a user
        what = str(found["msg"]).removeprefix("Value error, ").replace("Input should", "should")
        return Problem(key, what, context.get("hint"))
    value = found.get("input")
    kind = _KINDS.get(type(value).__name__, type(value).__name__)
    shown = str(value).lower() if isinstance(value, bool) else repr(value)
    shown = shown if isinstance(value, str | int | float) and len(shown) <= 40 else kind
    return Problem(key, words.format_map({**context, "kind": kind, "value": shown}), context.get("hint"))


def keys_at(model: type[BaseModel], loc: Iterable[int | str]) -> list[str]:
    """The keys that a place within data of this model may have; numbers, keys of tables and tags are passed over."""
    models = [model]
    for part in loc:
        fields = [(name, field) for each in models for name, field in each.model_fields.items()]
        inside = [_models(field.annotation) for name, field in fields if part in (name, field.alias)]
        models = list(chain.from_iterable(inside)) or models
    return list(dict.fromkeys(field.alias or name for each in models for name, field in each.model_fields.items()))


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that a type is made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    else:
        yield from chain.from_iterable(map(_models, get_args(annotation)))
