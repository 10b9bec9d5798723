"""docs/profiles.md and profile-keys.md: every block of YAML, expression, key and default is what the code has."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from evals.client.mapping import CHUNK_KEYS, Functions, ResponseReader, find
from evals.client.profile import check_spec, list_profiles, resolve_spec
from evals.client.spec import ServerSpec
from evals.text.yaml_files import load_yaml

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "profiles.md").read_text(encoding="utf-8")
KEYS = (Path(__file__).resolve().parent.parent / "docs" / "profile-keys.md").read_text(encoding="utf-8")
README = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE + KEYS, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.partition("\n")[0])
def test_every_block_is_a_whole_specification(block: str) -> None:
    """No key of it is unknown, and every expression can be evaluated."""
    check_spec(ServerSpec.model_validate({**load_yaml(block), "profile": "mine"}))


def _rows(heading: str, page: str = PAGE) -> list[list[str]]:
    """The cells of the table below a heading, without its first two lines."""
    section = page.partition(f"# {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    cells = (re.split(r"(?<![|\\])\|(?!\|)", line.strip("|")) for line in lines[2:])
    return [[cell.strip().replace(r"\|", "|") for cell in row] for row in cells]


def test_the_table_of_chunk_keys_is_whole() -> None:
    """Every key that is read of a chunk."""
    named = [key for row in _rows("Keys of a chunk") for key in re.findall(r"`(\w+)`", row[0])]
    assert sorted(named) == sorted(CHUNK_KEYS)


def _defaults(model: type[BaseModel], above: str = "") -> dict[str, Any]:
    """Defaults by key; of a part that always is there, those of the keys in it."""
    found: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        key = f"{above}{field.alias or name}"
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            found |= {key: ..., **_defaults(inner, f"{key}.")}
        else:
            found[key] = ... if field.is_required() else field.default
    return found


def test_the_page_of_keys_has_every_key_with_its_default_and_meaning() -> None:
    """Also those below a part that need not be there, which are not compared here."""
    rows = _rows("Keys of a profile", KEYS)
    assert all(meaning for _, _, meaning in rows)
    told = {row[0].strip("`"): row[1].strip("`") for row in rows}
    written = {
        key: ("", "required") if value is ... else (value if isinstance(value, str) else json.dumps(value),)
        for key, value in _defaults(ServerSpec).items()
    }
    assert {key: told[key] for key, defaults in written.items() if told[key] not in defaults} == {}
    assert {key.partition(".")[0].removesuffix("[]") for key in told} == set(ServerSpec.model_fields)


def test_every_function_is_told_with_an_example_that_can_be_evaluated() -> None:
    """Each function that JMESPath itself does not have."""
    rows = _rows("Additional functions")
    own = [name for name in vars(Functions) if name.startswith("_func_")]
    assert [row[0].strip("`").partition("(")[0] for row in rows] == [name.removeprefix("_func_") for name in own]
    for row in rows:
        find(row[2].strip("`"), {})


def test_what_the_page_says_of_null_empty_and_zero_is_so() -> None:
    """The first that is not null, and the first that is not empty, are two things."""
    body = {"text": "", "excerpt": "x", "n": 0}
    assert find("not_null(text, excerpt)", body) == ""
    assert find("text || excerpt", body) == "x"
    assert find("not_null(n, text)", body) == 0


def test_the_profiles_that_the_page_and_the_readme_name_are_there() -> None:
    """Also those of the README."""
    named = set(re.findall(r"--profile ([a-z][\w-]*)(?![\w.])", PAGE + README)) - {"FILE"}
    assert named
    assert named <= set(list_profiles())


def test_the_profile_of_the_readme_reads_such_answers(tmp_path: Path) -> None:
    """As they are called there: an answer, chunks and what is cited of them."""
    (shown,) = re.findall(r"```yaml\n# my_server\.yml\n(.*?)```", README, re.DOTALL)
    profile = tmp_path / "my_server.yml"
    profile.write_text(shown)
    reader = ResponseReader(resolve_spec({"profile": str(profile)}))
    contexts = [
        {"text": "The battery lasts 96 hours.", "file": "x300.md"},
        {"text": "It weighs 9 kg.", "file": "x300.md"},
    ]
    read = reader.read({"answer": "96 hours.", "contexts": contexts, "cited": [1]})
    assert [(chunk.text, chunk.document_id) for chunk in read["chunks"]] == [tuple(each.values()) for each in contexts]
    assert [citation.index for citation in read["citations"]] == [1]
    assert read["answer"] == "96 hours."
