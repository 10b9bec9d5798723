"""YAML as people write it by hand, within limits: what is silently wrong elsewhere is an error here.

Two keys of one name are refused, since YAML's parser drops the first without a word. So is what only an attack or a
mistake holds: nesting without end, and aliases that stand for more than a file could say.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

MAX_BYTES = 20_000_000
"""More than any file that a person writes."""
MAX_DEPTH = 100
_MAX_VALUES = 1_000_000
"""With every alias written out."""
_QUOTED = re.compile(r"'[^']{2,}'")
"""What PyYAML repeats of the file, which may be a secret; a single character is left."""


class YamlTextError(ValueError):
    """Why a text is no YAML that can be used; never holds what the text says."""


def load_yaml(text: str) -> Any:
    """The value of a YAML text with one document; None for an empty one.

    Raises:
        YamlTextError: It is no YAML, has two keys of one name, or is beyond the limits.
    """
    if len(text) > MAX_BYTES:
        raise YamlTextError(f"it is longer than {MAX_BYTES:,} characters")
    try:
        return _load(text)
    except yaml.MarkedYAMLError as error:
        raise YamlTextError(_said(error)) from None
    except yaml.YAMLError as error:  # of the reader: a character that YAML does not know
        raise YamlTextError(f"a character that YAML does not allow, at {_place(error)}") from None
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
        mark, node = _inside(node, key)
        if mark is None:
            break
        found = (mark.line + 1, mark.column + 1)
    return found


def _inside(node: Node | None, key: str) -> tuple[yaml.Mark | None, Node | None]:
    """Where a key or number stands within a node, and what it holds."""
    if isinstance(node, MappingNode):
        for name, value in node.value:
            if name.value == key:
                return name.start_mark, value
    elif isinstance(node, SequenceNode) and key.isdecimal() and int(key) < len(node.value):
        inner = node.value[int(key)]
        return inner.start_mark, inner
    return None, None


def _load(text: str) -> Any:
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _check_size(node)
        for mapping in _mappings(node):
            _refuse_repeated_keys(mapping)
        return _construct(loader, node)
    finally:
        loader.dispose()


def _construct(loader: yaml.SafeLoader, node: Node) -> Any:
    """The value of a node.

    Raises:
        YamlTextError: A date or number that there is none of, or half a character.
    """
    for scalar in _distinct(node):
        if isinstance(scalar, ScalarNode) and not scalar.tag.endswith(":merge"):
            _check_scalar(loader, scalar)
    return loader.construct_document(node)


def _check_scalar(loader: yaml.SafeLoader, node: ScalarNode) -> None:
    if any("\ud800" <= sign <= "\udfff" for sign in node.value):
        node.value = _with_pairs_joined(node)
    try:
        loader.construct_object(node)
    except (ValueError, OverflowError, TypeError, KeyError, AttributeError):
        kind = node.tag.rpartition(":")[2]
        raise YamlTextError(
            f"no {kind} can be made of the value at {_at(node)}; put it between quotation marks"
        ) from None


def _with_pairs_joined(node: ScalarNode) -> str:
    """The text of a scalar, with the two escapes by which JSON writes a character beyond 16 bits made one."""
    try:
        return str(node.value).encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise YamlTextError(f"half a surrogate pair at {_at(node)}") from None


def _check_size(root: Node) -> None:
    """Refuse what is too deep, refers to itself, or is too large once every alias is written out."""
    sizes: dict[int, int] = {}
    above: set[int] = set()
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, seen = stack.pop()
        if seen:
            above.discard(id(node))
            sizes[id(node)] = min(_MAX_VALUES + 1, 1 + sum(sizes[id(child)] for child in _children(node)))
        elif id(node) in above:
            raise YamlTextError(f"a value that holds itself at {_at(node)}")
        elif id(node) not in sizes:
            above.add(id(node))
            if len(above) > MAX_DEPTH:
                raise YamlTextError(f"it is nested deeper than {MAX_DEPTH} levels at {_at(node)}")
            stack.append((node, True))
            stack += [(child, False) for child in _children(node)]
    if sizes[id(root)] > _MAX_VALUES:
        raise YamlTextError(f"with its aliases written out it holds more than {_MAX_VALUES:,} values")


def _children(node: Node) -> Iterator[Node]:
    if isinstance(node, MappingNode):
        for key, value in node.value:
            yield key
            yield value
    elif isinstance(node, SequenceNode):
        yield from node.value


def _distinct(root: Node) -> Iterator[Node]:
    """Every node once, however many aliases it has."""
    seen, stack = {id(root)}, [root]
    while stack:
        node = stack.pop()
        yield node
        fresh = [child for child in _children(node) if id(child) not in seen]
        seen.update(map(id, fresh))
        stack += fresh


def _mappings(root: Node) -> Iterator[MappingNode]:
    return (node for node in _distinct(root) if isinstance(node, MappingNode))


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


def _place(error: yaml.YAMLError) -> str:
    position = getattr(error, "position", None)
    return f"position {position}" if position is not None else "an unknown position"


def _at(node: Node) -> str:
    return f"line {node.start_mark.line + 1}, column {node.start_mark.column + 1}"
