"""What a run adds to the prompts and puts in their place: notes, a language, files, and prompts of plug-ins."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from evals.judges.prompt import FOLDER, PromptBook, load_prompt, prompt_names, read_prompt

from evals.compare import SavedRun, compare_runs
from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.metrics.registry import parse_metric
from evals.run.checks import check_calibrated
from evals.runner import run_evaluation
from evals.scoring.calibration import hashes_of
from evals.store.runs import RunStore

NAME = "answer_relevancy"


def changed(folder: Path, **fields: Any) -> Path:
    """A folder with a changed prompt; a field that is None is left out."""
    ours = FOLDER / f"{NAME}.yml"
    data = {**yaml.safe_load(ours.read_text(encoding="utf-8")), **fields}
    folder.mkdir(exist_ok=True)
    kept = {key: value for key, value in data.items() if value is not None}
    (folder / f"{NAME}.yml").write_text(yaml.safe_dump(kept, sort_keys=False), encoding="utf-8")
    return folder


def test_nothing_changes_where_nothing_is_said() -> None:
    """Caches and comparisons of before hold the same hashes."""
    assert [PromptBook().of(name) for name in prompt_names()] == prompt_names()
    assert EvalConfig().judge.prompt_book().load(NAME) is load_prompt(NAME)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"notes": "TTFT is a time."}, "TTFT is a time."),
        ({"language": "German"}, 'justification" in German.'),
    ],
)
def test_notes_and_language_are_in_every_prompt_and_its_hash(keys: dict[str, str], said: str) -> None:
    """Behind our instructions, so that calls share their beginning."""
    book = PromptBook(**keys)
    for name in prompt_names():
        ours, theirs = load_prompt(name), book.load(name)
        assert theirs.system.startswith(ours.system.rstrip())
        assert said in theirs.system
        assert (theirs.hash == ours.hash, theirs.schema) == (False, ours.schema)
        assert book.of(name) is theirs


def test_a_changed_prompt_is_another_judge_to_cache_calibration_and_comparison(
    config: Callable[..., EvalConfig], messages_api: Any, tmp_path: Path
) -> None:
    """It is asked anew, its verdicts are not compared with those of before, and the other metrics are."""
    judge, run = {"cache": True}, {"suite": [], "metrics": [NAME, "contradiction"]}
    folder = changed(tmp_path / "prompts", system="Say whether the answer is to the point. Be strict.")
    first = run_evaluation(config(**run, judge=judge))
    messages_api.reset()
    messages_api.script({"then": {"python": "judge"}})
    second = run_evaluation(config(**run, judge={**judge, "prompts": folder}))
    asked = [json.dumps(call) for call in messages_api.log()]
    assert asked
    assert all("Be strict." in each for each in asked)
    assert first.judge is not None
    assert second.judge is not None
    differing = {key for key, value in first.judge.prompt_hashes.items() if second.judge.prompt_hashes[key] != value}
    assert differing == {NAME}
    store = RunStore(tmp_path / "runs")
    compared = compare_runs([SavedRun(one, store.log(one)) for one in (first, second)])
    assert any(f"judged by different prompts ({NAME})" in warning for warning in compared.warnings)
    assert {pair.name: pair.verdict == "not compared" for pair in compared.pairs}[NAME]
    book = config(judge={"prompts": folder}).judge.prompt_book()
    assert hashes_of(parse_metric(NAME), book.load) == {NAME: second.judge.prompt_hashes[NAME]}
    gated = config(**run, gate=[f"{NAME}>=0.1"], judge={"prompts": folder})
    with pytest.raises(ConfigError, match="never calibrated"):
        check_calibrated(gated, [parse_metric(NAME)])


@pytest.mark.parametrize(
    ("fields", "line", "said"),
    [
        ({"version": None}, 1, "version: it is missing"),
        ({"system": ""}, 4, "system: must not be empty"),
        ({"max_tokens": "many"}, 3, "max_tokens: must be a whole number, not 'many'"),
        ({"schema": {"type": "object"}}, 8, "schema: it must be that of our prompt"),
        ({"name": "other"}, 1, "name: it must be that of our prompt"),
        ({"hint": "x"}, 31, "hint: unknown key"),
    ],
)
def test_a_wrong_prompt_is_one_error_with_file_and_line(
    fields: dict[str, Any], line: int, said: str, tmp_path: Path
) -> None:
    """Before anything is asked."""
    folder = changed(tmp_path / "prompts", **{"system": "Say.", **fields})
    with pytest.raises(ConfigError) as caught:
        EvalConfig(judge={"prompts": folder})
    assert str(folder / f"{NAME}.yml") in caught.value.message
    assert f"line {line}" in caught.value.message
    assert said in caught.value.message
    assert caught.value.hint is not None


def test_a_folder_without_a_prompt_of_ours_is_an_error(tmp_path: Path) -> None:
    """A slip in the name would change nothing, in silence."""
    with pytest.raises(ConfigError, match=r"holds no \*\.yml"):
        EvalConfig(judge={"prompts": tmp_path})
    changed(tmp_path).joinpath(f"{NAME}.yml").rename(tmp_path / "relevancy.yml")
    with pytest.raises(ConfigError, match="unknown prompt 'relevancy'"):
        EvalConfig(judge={"prompts": tmp_path})


def test_our_prompts_are_copied_to_be_changed(evals_cli: Callable[..., Any], tmp_path: Path) -> None:
    """The copies are ours, to the hash; what is there already is not lost."""
    assert load_prompt(NAME).hash in evals_cli("prompts").out
    folder = tmp_path / "prompts"
    assert evals_cli("prompts", "--copy", folder).code == 0
    assert {read_prompt(path).hash for path in folder.iterdir()} == {load_prompt(name).hash for name in prompt_names()}
    assert EvalConfig(judge={"prompts": folder}).judge.prompt_book().load(NAME).hash == load_prompt(NAME).hash
    again = evals_cli("prompts", "--copy", folder)
    assert (again.code, "is there already" in again.err) == (2, True)
