"""YAML files that configure something, and what is wrong with them, by key."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from itertools import chain, count
from pathlib import Path
from typing import Any, NamedTuple, get_args

import yaml
from pydantic import BaseModel, ValidationError
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from evals.errors import ConfigError
from evals.text.decoding import MAX_DEPTH, read_whole

_MAX_CHARACTERS = 20_000_000
"""More than any file that a person writes."""
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
    if len(text) > _MAX_CHARACTERS:
        raise YamlTextError(f"it is longer than {_MAX_CHARACTERS:,} characters")
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
        data = load_yaml(read_whole(path).decode("utf-8"))
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


def holds(keys: Any, path: str) -> bool:
    """Whether a path of keys and numbers, such as `info.0.path`, leads to something."""
    first, _, rest = path.partition(".")
    if isinstance(keys, list):
        keys = {str(number): item for number, item in enumerate(keys)}
    return isinstance(keys, Mapping) and first in keys and (not rest or holds(keys[first], rest))


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
        is_whole = key == "json" and (not value or "{{question}}" in str(value) or "{{messages}}" in str(value))
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = merge(merged[key], value) if both and not is_whole else value
    return merged


VARIABLE = re.compile(r"\$\{(\w+)(?::-([^{}]*))?\}")
"""${NAME}: stands for a value of the environment; ${NAME:-other} for that, or for the other where it is not set."""


def is_left_out(text: str) -> bool:
    """Whether a text holds a ${NAME:-} that nothing stands for, so that a header of it is not sent."""
    return any(f"${{{name}:-}}" in text and not os.environ.get(name) for name, _ in VARIABLE.findall(text))


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
            hint = f"the configuration uses ${{{name}}}: export it"
            raise ConfigError(f"environment variable {name} is not set", hint)
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


class Problem(NamedTuple):
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


def first_problem(error: ValidationError, model: type[BaseModel]) -> Problem:
    """What to correct first in data that was to be of this model.

    A key that is unknown, for it is why another is missing; else the first problem that pydantic found.
    """
    problems = [_problem(dict(details), model) for details in error.errors(include_url=False)]
    return next((problem for problem in problems if problem.known), problems[0])


def nearest_hint(name: str, known: Iterable[str]) -> str:
    """The hint for an unknown name: the nearest one, or all of them."""
    names = sorted(known)
    close = get_close_matches(name, names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names)}"


def _problem(details: Mapping[str, Any], model: type[BaseModel]) -> Problem:
    kind, place, value = details["type"], details["loc"], details.get("input")
    key = ".".join(map(str, place))
    if kind == "extra_forbidden":
        known = tuple(_keys_at(model, place[:-1]))
        return Problem(key, UNKNOWN_KEY, nearest_hint(str(place[-1]), known), known)
    limits = details.get("ctx", {})
    limits = {name: f"{limit:g}" if isinstance(limit, float) else limit for name, limit in limits.items()}
    # What pydantic puts before the words of our own checks says nothing to a user.
    own = str(details["msg"]).removeprefix("Value error, ").replace("Input should", "should")
    type_name = _KINDS.get(type(value).__name__, type(value).__name__)
    shown = str(value).lower() if isinstance(value, bool) else repr(value)
    shown = shown if isinstance(value, str | int | float) and len(shown) <= 40 else type_name
    words = _WORDS[kind].format_map({**limits, "kind": type_name, "value": shown}) if kind in _WORDS else own
    return Problem(key, words, limits.get("hint"))


def _keys_at(model: type[BaseModel], place: Iterable[int | str]) -> Iterable[str]:
    """The keys that a place within data of this model may have; numbers, keys of tables and tags are passed over."""
    fields = model.model_fields
    for part in place:
        named = [field for name, field in fields.items() if part in (name, field.alias)]
        models = [inner for field in named for inner in _models(field.annotation)]
        fields = {name: field for inner in models for name, field in inner.model_fields.items()} or fields
    return dict.fromkeys(field.alias or name for name, field in fields.items())


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that a type is made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    else:
        yield from chain.from_iterable(map(_models, get_args(annotation)))
