"""Read YAML files, and report errors by key, file and line."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any, cast, get_args

import yaml
from pydantic import BaseModel, ValidationError
from yaml import YAMLError
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from evals.errors import ConfigError
from evals.text.decoding import check_file

# YAML as people write it by hand, within limits: what is silently wrong elsewhere is an error here.


MAX_BYTES = 20_000_000
"""More than any file that a person writes."""

MAX_DEPTH = 100


_MAX_VALUES = 1_000_000
"""With every alias written out."""


_QUOTED = re.compile(r"'[^']{2,}'")
"""What PyYAML repeats of the file, which may be a secret; a single character is left."""


class YamlTextError(ValueError):
    """A YAML text cannot be used; the message never quotes it."""


def load_yaml(text: str) -> Any:
    """The value of a YAML text with one document; None for an empty one.

    Raises:
        YamlTextError: It is no YAML, has two keys of one name, or is beyond the limits.
    """
    if len(text) > MAX_BYTES:
        raise YamlTextError(f"it is longer than {MAX_BYTES:,} characters")
    try:
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            if node is None:
                return None
            _size(node, {}, ())
            return loader.construct_document(node)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        raise YamlTextError(_said(error)) from None
    except yaml.reader.ReaderError as error:
        raise YamlTextError(f"a character that YAML does not allow, at position {error.position}") from None
    except RecursionError:
        raise YamlTextError(f"it is nested deeper than {MAX_DEPTH} levels") from None


def find_place(text: str, keys: Sequence[str]) -> tuple[int, int] | None:
    """Line and column, from 1, of the key that a path of keys and numbers leads to; where it ends early, of the last.

    Args:
        text: A YAML text that can be loaded.
        keys: Such as `("info", "0", "path")`.

    Returns:
        None where not even the first key is there.
    """
    loader = yaml.SafeLoader(text)
    try:
        node, found = loader.get_single_node(), None
    finally:
        loader.dispose()
    for key in keys:
        mark, node = _inside_strict_yaml(node, key)
        if mark is None:
            break
        found = (mark.line + 1, mark.column + 1)
    return found


def _inside_strict_yaml(node: Node | None, key: str) -> tuple[yaml.Mark | None, Node | None]:
    """Where a key or number stands within a node, and what it holds."""
    if isinstance(node, MappingNode):
        for name, value in node.value:
            if name.value == key:
                return name.start_mark, value
    elif isinstance(node, SequenceNode) and key.isdecimal() and int(key) < len(node.value):
        inner = node.value[int(key)]
        return inner.start_mark, inner
    return None, None


class _Loader(yaml.SafeLoader):
    """PyYAML's loader, which says of what cannot be made a value where it stands."""

    def construct_object(self, node: Node, deep: bool = False) -> Any:
        """The value of a node.

        Raises:
            YamlTextError: A date or number that there is none of.
        """
        try:
            return super().construct_object(node, deep)
        except YamlTextError:
            raise
        except (ValueError, OverflowError, TypeError, KeyError, AttributeError):
            kind = node.tag.rpartition(":")[2]
            raise YamlTextError(
                f"no {kind} can be made of the value at {_at(node)}; put it between quotation marks"
            ) from None


def _size(node: Node, sizes: dict[int, int], above: tuple[Node, ...]) -> int:
    """How many values a node holds with every alias written out.

    Raises:
        YamlTextError: Too many; it holds itself, is nested too deeply, has a key twice, or half a character.
    """
    if node in above:
        raise YamlTextError(f"a value that holds itself at {_at(node)}")
    if len(above) >= MAX_DEPTH:
        raise YamlTextError(f"it is nested deeper than {MAX_DEPTH} levels at {_at(node)}")
    if id(node) not in sizes:
        if isinstance(node, ScalarNode):
            node.value = _with_pairs_joined(node)
        elif isinstance(node, MappingNode):
            _refuse_repeated_keys(node)
        inside = (_size(child, sizes, (*above, node)) for child in _children(node))
        sizes[id(node)] = 1 + sum(inside)
        if sizes[id(node)] > _MAX_VALUES:
            raise YamlTextError(f"with its aliases written out it holds more than {_MAX_VALUES:,} values")
    return sizes[id(node)]


def _children(node: Node) -> Iterator[Node]:
    if isinstance(node, MappingNode):
        yield from chain.from_iterable(node.value)
    elif isinstance(node, SequenceNode):
        yield from node.value


def _with_pairs_joined(node: ScalarNode) -> str:
    """The text of a scalar, with the two escapes by which JSON writes a character beyond 16 bits made one."""
    try:
        return str(node.value).encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise YamlTextError(f"half a surrogate pair at {_at(node)}") from None


def _refuse_repeated_keys(node: MappingNode) -> None:
    lines: dict[tuple[str, str], int] = {}
    for key, _ in node.value:
        if isinstance(key, ScalarNode):
            name, line = (key.tag, key.value), key.start_mark.line + 1
            if name in lines:
                raise YamlTextError(f"the key {key.value[:40]!r} stands twice, in lines {lines[name]} and {line}")
            lines[name] = line


def _said(error: yaml.MarkedYAMLError) -> str:
    """What the parser says, without what it repeats of the text."""
    mark = error.problem_mark or error.context_mark
    what = _QUOTED.sub("…", error.problem or error.context or "it cannot be read")
    return f"{what} (line {mark.line + 1}, column {mark.column + 1})" if mark else what


def _at(node: Node) -> str:
    return f"line {node.start_mark.line + 1}, column {node.start_mark.column + 1}"


# Mappings that configure something: read from YAML, laid over one another, filled in from the environment.


VARIABLE = re.compile(r"\$\{(\w+)(?::-([^{}]*))?\}")
"""${NAME}: stands for a value of the environment; ${NAME:-other} for that, or for the other where it is not set."""


def read_yaml(path: Path, what: str) -> dict[str, Any]:
    """Read a YAML file that holds a mapping.

    Raises:
        ConfigError: It cannot be read, is no YAML or no mapping, or names a key twice.
    """
    try:
        data = load_yaml(text_of(path))
    except OSError as error:
        raise ConfigError(f"cannot read the {what} {path}: {error.strerror}") from error
    except (YamlTextError, UnicodeDecodeError) as error:
        why = error if isinstance(error, YamlTextError) else "it is no UTF-8 text"
        raise ConfigError(f"the {what} {path} is not valid YAML: {why}") from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise ConfigError(f"the {what} {path} must hold keys and values, not {type(data).__name__}")
    return cast("dict[str, Any]", data)


def text_of(path: Path) -> str:
    """The text of a file, read no further than beyond the limit: it may be a device that never ends."""
    check_file(path, most=None)
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1).decode("utf-8")


_QUESTIONS = ("{{question}}", "{{messages}}")


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Lay one mapping over another, part by part: mappings merge, everything else replaces.

    A request body (`json`) that says where the question goes is whole and replaces the profile's; one that does not
    is laid over it, so that a single key can be changed.
    """
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        both = both and not (key == "json" and (not value or any(name in str(value) for name in _QUESTIONS)))
        merged[key] = merge(merged[key], value) if both else value
    return merged


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
    if isinstance(value, list):
        return [expand_env(item, secrets, env) for item in value]
    return value


# Where a key stands in the file that it was read from.


class FileLayer(dict[str, Any]):
    """The keys of a YAML file.

    Attributes:
        file: Where they were read from.
    """

    def __init__(self, file: Path, keys: Mapping[str, Any]) -> None:
        super().__init__(keys)
        self.file = file


def read_layer(path: Path, what: str) -> FileLayer:
    """Read a YAML file that holds a mapping, and remember which it was.

    Raises:
        ConfigError: As of `read_yaml`.
    """
    return FileLayer(path, read_yaml(path, what))


def holds(keys: Mapping[str, Any], path: str) -> bool:
    """Whether a path of keys and numbers, such as `info.0.path`, leads to something."""
    place: Any = keys
    for key in path.split("."):
        if isinstance(place, Mapping) and key in place:
            place = place[key]
        elif isinstance(place, list) and key.isdecimal() and int(key) < len(place):
            place = place[int(key)]
        else:
            return False
    return bool(path)


def place_in(path: Path, key: str) -> str | None:
    """Where a key of a YAML file stands: `profile.yml, line 3, column 5`; None where it does not, or no more.

    Args:
        path: A file that was read before.
        key: With all keys above it: `ask.json`.
    """
    try:
        found = find_place(text_of(path), key.split("."))
    except (OSError, UnicodeDecodeError, YAMLError):
        return None
    return f"{path}, line {found[0]}, column {found[1]}" if found else None


def place_among(layers: Iterable[Mapping[str, Any]], key: str) -> str | None:
    """Where a key stands in the last of several layers that has it; None where that is none of a file."""
    layer = next((layer for layer in reversed([*layers]) if holds(layer, key)), None)
    return place_in(layer.file, key) if isinstance(layer, FileLayer) else None


UNKNOWN_KEY = "unknown key"

_OBJECT = "must hold keys and values, not {kind}"


_WORDS = {
    "missing": "it is missing",
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "dict_type": _OBJECT,
    "list_type": "must be a list, not {kind}",
    "tuple_type": "must be a list, not {kind}",
    "string_type": "must be a text, not {kind}",
    "string_unicode": "must be a text without broken characters",
    "path_type": "must be a path, not {kind}",
    "int_type": "must be a whole number, not {value}",
    "int_parsing": "must be a whole number, not {value}",
    "int_from_float": "must be a whole number, not {value}",
    "float_type": "must be a number, not {value}",
    "float_parsing": "must be a number, not {value}",
    "bool_type": "must be true or false, not {value}",
    "bool_parsing": "must be true or false, not {value}",
    "finite_number": "must be a finite number, not {value}",
    "greater_than": "must be above {gt}, not {value}",
    "greater_than_equal": "must be at least {ge}, not {value}",
    "less_than": "must be below {lt}, not {value}",
    "less_than_equal": "must be at most {le}, not {value}",
    "literal_error": "must be {expected}, not {value}",
    "enum": "must be {expected}, not {value}",
    "string_too_short": "must not be empty",
    "string_pattern_mismatch": "must match {pattern}, as {value} does not",
    "too_short": "must hold at least {min_length}",
    "too_long": "must hold at most {max_length}, not {actual_length}",
    "union_tag_not_found": "{discriminator} is missing",
    "union_tag_invalid": "{discriminator} must be one of {expected_tags}, not '{tag}'",
}
"""By what pydantic calls a problem; `{kind}` is the type of what was given, and `{value}` what was given."""

_MAX_SHOWN = 40

_KINDS = {"NoneType": "nothing", "str": "a text", "int": "a number", "float": "a number", "bool": "true or false"}

_KINDS |= {"list": "a list", "tuple": "a list", "dict": "keys and values"}


@dataclass(frozen=True, slots=True)
class Problem:
    """One validation error.

    Attributes:
        key: Where, with all keys above it: `match.rule`. Empty where the whole is wrong.
        what: What is wrong with it.
        hint: What to do; None where nothing is known.
        beside: The keys that the place of an unknown key has; empty for every other problem.
    """

    key: str
    what: str
    hint: str | None = None
    beside: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.key}: {self.what}" if self.key else self.what


def problems_of(error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """All validation errors that pydantic found.

    Args:
        error: What it raised.
        model: What the data was to be; gives the keys next to an unknown one.
    """
    return [_problem(dict(found), model) for found in error.errors(include_url=False)]


def first_problem(error: ValidationError, model: type[BaseModel]) -> Problem:
    """What to correct first: a key that is unknown, for it is why another is missing, else the first thing found.

    Arguments as of `problems_of`.
    """
    problems = problems_of(error, model)
    return next((problem for problem in problems if problem.beside), problems[0])


def nearest_hint(name: str, known: Iterable[str]) -> str:
    """The hint for an unknown name: the nearest one, or all of them."""
    names = sorted(known)
    close = get_close_matches(name, names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names)}"


def _problem(found: Mapping[str, Any], model: type[BaseModel]) -> Problem:
    loc = found["loc"]
    key = ".".join(map(str, loc))
    if found["type"] == "extra_forbidden":
        beside = tuple(keys_at(model, loc[:-1]))
        return Problem(key, UNKNOWN_KEY, nearest_hint(str(loc[-1]), beside), beside)
    context = {name: f"{each:g}" if isinstance(each, float) else each for name, each in found.get("ctx", {}).items()}
    value = found.get("input")
    words = _WORDS.get(found["type"])
    if words is None:
        # What pydantic puts before the words of our own checks says nothing to a user.
        what = str(found["msg"]).removeprefix("Value error, ").replace("Input should", "should")
    else:
        what = words.format_map({**context, "kind": _kind(value), "value": _shown(value)})
    return Problem(key, what, context.get("hint"))


def _kind(value: Any) -> str:
    name = type(value).__name__
    return _KINDS.get(name, name)


def _shown(value: Any) -> str:
    """The value where it is short and plain, else what kind of thing it is: what is long says nothing in a message."""
    plain = isinstance(value, str | int | float) and len(repr(value)) <= _MAX_SHOWN
    return repr(value) if plain and not isinstance(value, bool) else str(value).lower() if plain else _kind(value)


def keys_at(model: type[BaseModel], loc: Iterable[int | str]) -> list[str]:
    """The keys that a place within data of this model may have; numbers, keys of tables and tags are passed over."""
    models = [model]
    for part in loc:
        models = [inner for each in models for inner in _inside(each, part)] or models
    return list(dict.fromkeys(field.alias or name for each in models for name, field in each.model_fields.items()))


def _inside(model: type[BaseModel], key: int | str) -> Iterator[type[BaseModel]]:
    """The models that a key of a model holds."""
    for name, field in model.model_fields.items():
        if key in (name, field.alias):
            yield from _models(field.annotation)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that a type is made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    else:
        yield from chain.from_iterable(map(_models, get_args(annotation)))
