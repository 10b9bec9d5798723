"""Pages of reference that are made of the code: commands, flags, exit codes, kinds of servers, keys of profiles."""

import ast
import inspect
import json
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, get_args

import typer
from pydantic import BaseModel

from evals import errors
from evals.cli import app
from evals.client.profile import about_profile, measurable, resolve_spec
from evals.client.spec import ServerSpec

_SAME = {"help", "help_all"}
"""Flags that every command has."""
_PROFILES = Path(__file__).resolve().parent.parent / "evals" / "client" / "profiles"
_KINDS = {"str": "text", "int": "number", "float": "number", "Path": "path"}


def commands_page() -> str:
    """docs/commands.md, from the command line itself."""
    group = typer.main.get_command(app)
    commands: dict[str, Any] = group.commands  # type: ignore[attr-defined]
    parts = [
        "# Commands and flags\n",
        "Generated from the command line by `python docs/generate.py`. `evals COMMAND --help` prints the common\n"
        "flags of a command, `--help-all` all of them; [exit-codes.md](exit-codes.md) says what a command ends with.\n",
        _table(group.params),
        *(part for name, command in commands.items() for part in _command(name, command)),
    ]
    return "\n".join(parts)


def _command(name: str, command: Any) -> Iterator[str]:
    command.make_context(name, [], resilient_parsing=True)  # its parameters are made when they are looked at
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    usage = " ".join(["evals", name, *map(_argument, arguments)])
    yield f"## {name}\n\n{command.help}\n\n```text\n{usage} [FLAGS]\n```\n"
    flags = [each for each in command.params if each.param_type_name == "option" and each.name not in _SAME]
    for panel, of_panel in groupby(flags, key=lambda each: getattr(each, "rich_help_panel", None)):
        if isinstance(panel, str):
            yield f"**{panel}**\n"
        yield _table(list(of_panel))
    yield from (f"`{_argument(each)}`: {each.help}\n" for each in arguments if getattr(each, "help", None))


def _argument(argument: Any) -> str:
    name = (argument.metavar or argument.name).upper().strip("[]").removesuffix("...").rstrip("…")
    several = "…" if argument.nargs == -1 else ""
    return f"{name}{several}" if argument.required else f"[{name}{several}]"


def _table(flags: list[Any]) -> str:
    rows = [f"| {_names(each)} | {_value(each)} | {_cell(each.help or '')} |" for each in flags if not each.hidden]
    return "\n".join(["| flag | value | meaning |", "|---|---|---|", *rows, ""])


def _names(flag: Any) -> str:
    return " ".join(f"`{name}`" for name in (*flag.opts, *flag.secondary_opts))


def _value(flag: Any) -> str:
    if flag.is_flag:
        return ""
    kind = _KINDS[flag.bare_type().removeprefix("list[").removesuffix("]")]
    return f"{kind}; repeatable" if flag.multiple else kind


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def exit_codes_page() -> str:
    """docs/exit-codes.md, from the tree of errors."""
    kinds = sorted(_errors(errors.EvalsError), key=lambda kind: kind.exit_code)
    codes = {errors.EXIT_OK: ["done"]}
    for code, of_code in groupby(kinds, key=lambda kind: kind.exit_code):
        codes[code] = [f"`{kind.__name__}`: {_first_line(kind)}" for kind in of_code]
    codes[errors.EXIT_INTERNAL] = ["a bug of ours"]
    rows = [f"| {code} | {'<br>'.join(codes[code])} |" for code in sorted(codes)]
    return "\n".join(
        [
            "# Exit codes\n",
            "Generated from the errors of `evals.errors` by `python docs/generate.py`. The\n"
            "[README](../README.md#gate-a-release) has the same in short.\n",
            "| code | error, and what it means |",
            "|---|---|",
            *rows,
            "",
        ]
    )


def _errors(kind: type[errors.EvalsError]) -> Iterator[type[errors.EvalsError]]:
    """All kinds below one, and itself unless it is the root."""
    below = [each for each in kind.__subclasses__() if each.__module__ == errors.__name__]
    if kind is not errors.EvalsError:
        yield kind
    for each in below:
        yield from _errors(each)


def _first_line(kind: type) -> str:
    return _cell(inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0]).rstrip(".")


def servers_page() -> str:
    """docs/servers.md, from the profiles that are shipped."""
    rows = [f"| `{name}` | {_cell(about_profile(name))} | {_measurable(name)} |" for name in built_in_profiles()]
    return "\n".join(
        [
            "# Kinds of servers\n",
            "Generated from `evals/client/profiles/*.yml` by `python docs/generate.py`. `evals profiles` prints the\n"
            "same, and `evals profiles NAME` the file, which says what a server cannot tell.\n"
            "Any other server is a few lines of YAML ([profiles.md](profiles.md)).\n",
            "| profile | for | what can be measured, as far as the server sends it |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def built_in_profiles() -> list[str]:
    """Their names."""
    return sorted(path.stem for path in _PROFILES.glob("*.yml"))


def _measurable(name: str) -> str:
    return ", ".join(measurable(resolve_spec({"profile": name})))


_EXAMPLE = """```yaml
url: https://rag.example.com
headers: {Authorization: "Bearer ${RAG_TOKEN}"}    # ${NAME} is taken from the environment
health: {path: /health}                            # GET; any 2xx is healthy
info:                                              # requests that read the server's configuration
  - {path: /models/info, map: {llm_model: llm_model}}
ask:
  path: /query
  json: {query: "{{question}}", session_id: "{{uuid}}"}   # or `form:`, or `query:` for URL parameters
  ok_when: "status == 'ok'"                        # for servers that report errors with status 200
retrieve:                                          # a second request, for chunks that the answer does not contain
  path: /search
  json: {query: "{{question}}"}
  map: {chunks: "results[].{chunk_id: id, text: text}"}
map:
  answer: answer
  citations: "citations[].{index: number}"
clean: ['<think>.*?</think>']                      # removed from the answer
documents: {path: /documents, map: "documents[].{id: id, name: file_name}"}
upload: {path: /upload, field: files, batch: 50, id: batch_id}
ready: {path: "/tasks/{{id}}/status", done_when: "completed == total", failed: "errors"}
```
"""


def profile_keys_page() -> str:
    """docs/profile-keys.md, from the fields of a server's specification."""
    rows = [f"| `{key}` | {default} | {_cell(meaning)} |" for key, default, meaning in _keys(ServerSpec)]
    return "\n".join(
        [
            "# Keys of a profile\n",
            "Generated from `evals/client/spec.py` by `python docs/generate.py`. Write these keys in a profile, or\n"
            "under `server:` in the configuration. [profiles.md](profiles.md) has examples, and explains the\n"
            "expressions. `a[].b` is the key `b` of each item of the list `a`.\n",
            _EXAMPLE,
            "| key | default | meaning |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def _keys(model: type[BaseModel], above: str = "") -> Iterator[tuple[str, str, str]]:
    """Each key with its default and meaning, followed by the keys below it."""
    meanings = _meanings(model)
    for name, field in model.model_fields.items():
        key = f"{above}{field.alias or name}"
        inner, is_list = _model_in(field.annotation)
        is_part = isinstance(inner, type) and field.annotation is inner
        default = "required" if field.is_required() else "" if is_part else _default(field.default)
        yield key, default, meanings.get(name) or f"{_first_line(inner or object)}."
        if inner is not None:
            yield from _keys(inner, f"{key}[]." if is_list else f"{key}.")


def _default(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return f"`{_cell(text)}`"


def _model_in(annotation: Any) -> tuple[type[BaseModel] | None, bool]:
    """The model of a key that has keys below it, and whether the key holds a list of them."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation, False
    found = [each for each in get_args(annotation) if isinstance(each, type) and issubclass(each, BaseModel)]
    return (found[0] if found else None), bool(found) and getattr(annotation, "__origin__", None) is list


def _meanings(model: type[BaseModel]) -> dict[str, str]:
    """By field what its docstring says, or the section `Attributes` of its class or of a class above."""
    found: dict[str, str] = {}
    for kind in reversed(model.__mro__):
        if kind.__module__ == ServerSpec.__module__:
            section = inspect.cleandoc(kind.__doc__ or "").partition("Attributes:\n")[2]
            found |= dict(re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", section, re.MULTILINE))
            (defined,) = ast.parse(inspect.getsource(kind)).body
            assert isinstance(defined, ast.ClassDef)
            for field, text in zip(defined.body, defined.body[1:], strict=False):
                if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                    found[ast.unparse(field.target)] = ast.literal_eval(text.value)
    return found
