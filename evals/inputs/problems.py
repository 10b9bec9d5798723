"""What a check of data found wrong, in the words of whoever wrote the data: which key, and what is wrong with it."""

import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

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
    """One thing that is wrong.

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
    """All that pydantic found wrong.

    Args:
        error: What it raised.
        model: What the data was to be; tells which keys stand beside one that is unknown.
    """
    return [_problem(dict(found), model) for found in error.errors(include_url=False)]


def first_problem(error: ValidationError, model: type[BaseModel]) -> Problem:
    """What to mend first: a key that is unknown, for it is why another is missing, else the first thing found.

    Arguments as of `problems_of`.
    """
    problems = problems_of(error, model)
    return next((problem for problem in problems if problem.beside), problems[0])


def nearest_hint(name: str, known: Iterable[str]) -> str:
    """What to write instead of a name that does not exist: the nearest one, or all of them."""
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
    """The keys that a place within data of this model may have."""
    places: list[Any] = [model]
    for part in loc:
        places = [inner for place in places for inner in _inside(place, part)]
    models = (place for place in places if isinstance(place, type) and issubclass(place, BaseModel))
    return list(dict.fromkeys(key for each in models for key in _keys(each)))


def _keys(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _inside(place: Any, part: int | str) -> Iterator[Any]:
    """What may stand at a key or number of a place, by the types of both."""
    arguments = get_args(place)
    if isinstance(place, type) and issubclass(place, BaseModel):
        if place.model_config.get("extra") == "forbid" and _is_tag(place, part):
            yield place
        for name, field in place.model_fields.items():
            if part in (name, field.alias):
                yield from _alternatives(field.annotation)
    elif get_origin(place) in (list, tuple):
        yield from (inner for each in arguments for inner in _alternatives(each))
    elif get_origin(place) is dict:
        yield from _alternatives(arguments[1])


def _is_tag(model: type[BaseModel], part: int | str) -> bool:
    """Whether the part is no key, but what pydantic tells the members of a union apart by."""
    annotations = (field.annotation for field in model.model_fields.values())
    return any(get_origin(each) is Literal and part in get_args(each) for each in annotations)


def _alternatives(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) is Annotated:
        yield from _alternatives(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, types.UnionType):
        yield from (inner for each in get_args(annotation) for inner in _alternatives(each))
    else:
        yield annotation
