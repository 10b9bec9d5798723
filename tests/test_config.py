"""The configuration: keys, short forms, layers and defaults."""

import pickle
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from evals.client.spec import DEFAULT_URL
from evals.config import DatasetName, EvalConfig
from evals.errors import ConfigError, UnknownNameError
from evals.scoring.config import ScoringConfig

WriteYaml = Callable[[str], Path]


@pytest.fixture(autouse=True)
def no_server_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what a test sets is in RAG_SERVER_URL."""
    monkeypatch.delenv("RAG_SERVER_URL", raising=False)


@pytest.fixture
def write(tmp_path: Path) -> WriteYaml:
    """Write a configuration file."""

    def put(text: str) -> Path:
        path = tmp_path / "eval_config.yml"
        path.write_text(text, encoding="utf-8")
        return path

    return put


@pytest.mark.parametrize(
    ("keys", "name", "nearest"),
    [
        ({"datset": "golden"}, "datset", "datasets"),
        ({"rag_server_ulr": "x"}, "rag_server_ulr", "rag_server_url"),
        ({"match": {"overlap_treshold": 0.5}}, "match.overlap_treshold", "overlap_threshold"),
        ({"judge": {"modle": "m"}}, "judge.modle", "model"),
        ({"scoring": {"wieghts": {}}}, "scoring.wieghts", "weights"),
        ({"prices": {"m": {"inptu": 1, "output": 1}}}, "prices.m.inptu", "input"),
    ],
)
def test_an_unknown_key_says_the_nearest_beside_it(keys: dict[str, Any], name: str, nearest: str) -> None:
    """A typing error is told with its section, and answered with the key of the same place that was probably meant."""
    for made in (lambda: EvalConfig.build(keys), lambda: EvalConfig(**keys)):  # from Python as from a file
        with pytest.raises(UnknownNameError, match=f"unknown configuration key '{name}'") as caught:
            made()
    assert f"did you mean '{nearest}'?" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("keys", "place"),
    [
        ({"concurrency": 0}, "concurrency"),
        ({"concurrency": "many"}, "concurrency"),
        ({"samples_per_dataset": -1}, "samples_per_dataset"),
        ({"max_error_rate": 1.5}, "max_error_rate"),
        ({"rps": 0}, "rps"),
        ({"rps": float("inf")}, "rps"),
        ({"confidence": 1}, "confidence"),
        ({"on_error": "ignore"}, "on_error"),
        ({"match": {"overlap_threshold": 2}}, "match.overlap_threshold"),
        ({"match": {"rule": "magic"}}, "match.rule"),
        ({"prices": {"m": {"input": -1, "output": 1}}}, "prices.m.input"),
        ({"server": "http://h"}, "server"),
        ({"server": "http://h", "rag_server_url": "http://i"}, "server"),
        ({"judge": 5}, "judge"),
        ({"scoring": {"weights": {"accuracy": -0.1}}}, "scoring.weights"),
        ({"scoring": {"weights": dict.fromkeys(ScoringConfig().weights, 0.0)}}, "scoring.weights: .*positive"),
        ({"scoring": {"weights": {"accuracy": float("nan")}}}, "scoring.weights.accuracy"),
        ({"scoring": {"ragas_weights": {"speed": 1.0}}}, "scoring.ragas_weights: .*no part of ragas_score"),
        ({"scoring": {"ragas_weights": {"ragas_faithfulness": -1.0}}}, "scoring.ragas_weights.ragas_faithfulness"),
        ({"scoring": {"weights": {"speed": 1.0}}}, "scoring: .*'speed'"),
        ({"scoring": {"feeds": {"speed": ["latency_p95"]}}}, "scoring: objective without a weight: 'speed'"),
        (
            {"scoring": {"thresholds": {"EUR": 1.0}}},
            "scoring.thresholds: 'EUR' is no unit of an objective; these are: USD, ms",
        ),
        ({"scoring": {"thresholds": {"USD": 0}}}, "scoring.thresholds.USD"),
        ({"scoring": {"thresholds": {"ms": -1}}}, "scoring.thresholds.ms"),
    ],
    ids=str,
)
def test_a_wrong_value_is_told_by_its_key(keys: dict[str, Any], place: str) -> None:
    """The message names the key with all keys above it."""
    with pytest.raises(ConfigError, match=f"configuration: {place}") as caught:
        EvalConfig.build(keys)
    assert caught.value.exit_code == 2


def test_a_configuration_can_be_copied_and_checked_again() -> None:
    """What pydantic offers for a record works."""
    config = EvalConfig(judge=False, seed=7)  # type: ignore[arg-type]
    assert EvalConfig.model_validate(config) is config
    assert EvalConfig.model_validate_json(config.model_dump_json()) == config
    assert pickle.loads(pickle.dumps(config)) == config  # noqa: S301 - our own bytes
    assert config.model_copy(update={"seed": 8}).seed == 8


@pytest.mark.parametrize(
    ("keys", "read"),
    [
        (
            {"rag_server_url": "http://h:1", "server": {"timeout_s": 5}},
            {"server": {"url": "http://h:1", "timeout_s": 5}},
        ),
        ({"judge": False}, {"judge.enabled": False, "judge.model": EvalConfig().judge.model}),
        ({"dask": "local"}, {"dask": "local"}),
        ({"datasets": "golden, squad_v2,"}, {"dataset_names": ["golden", "squad_v2"]}),
        ({"datasets": DatasetName.QASPER}, {"dataset_names": ["qasper"]}),
        ({"datasets": [DatasetName.HOTPOTQA, "mine:x"]}, {"dataset_names": ["hotpotqa", "mine:x"]}),
        ({"datasets": []}, {"dataset_names": []}),
        ({}, {"dataset_names": ["ragbench"], "suite_names": ["core"]}),
        ({"embedded": True}, {"dataset_names": ["golden"]}),
        ({"embedded": True, "datasets": ["squad_v2"]}, {"dataset_names": ["squad_v2"]}),
        ({"metrics": "mrr"}, {"metrics": ["mrr"], "suite_names": []}),
        ({"metrics": ["mrr"], "suite": "core"}, {"suite_names": ["core"]}),
        ({"gate": "recall_at_5>=0.8"}, {"gate": ["recall_at_5>=0.8"]}),
        ({"samples_per_dataset": 0}, {"samples_per_dataset": None}),
        (
            {"dataset_file": "q.csv", "columns": "question=My q, id = nr,"},
            {"columns": {"question": "My q", "id": "nr"}},
        ),
    ],
    ids=str,
)
def test_short_forms_and_defaults(keys: dict[str, Any], read: dict[str, Any]) -> None:
    """One word or a text with commas stands for a table or a list; metrics that are named replace the default suite."""
    config = EvalConfig.build(keys)
    assert {key: attrgetter(key)(config) for key in read} == read


@pytest.mark.parametrize("file_key", ["rag_server_url: http://file", "server: {url: 'http://file'}", ""])
@pytest.mark.parametrize(
    "flags", [{"server": {"url": "http://flag"}}, {"rag_server_url": "http://flag"}, {}], ids=["long", "short", "none"]
)
@pytest.mark.parametrize("env", ["http://env", None])
def test_flags_go_before_the_file_the_environment_and_the_default(
    write: WriteYaml, monkeypatch: pytest.MonkeyPatch, file_key: str, flags: dict[str, Any], env: str | None
) -> None:
    """In whichever form the URL is given, the same order holds."""
    if env:
        monkeypatch.setenv("RAG_SERVER_URL", env)
    config = EvalConfig.from_file(write(file_key), flags)
    expected = "http://flag" if flags else "http://file" if file_key else env or DEFAULT_URL
    assert config.rag_server_url == expected
    assert config.server_spec().url == expected


def test_a_flag_changes_one_key_of_a_part(write: WriteYaml) -> None:
    """Layers merge part by part: what the flag does not name stays as the file has it."""
    path = write("judge: false\nseed: 7\nmatch: {rule: text, inside_min_tokens: 4}\n")
    config = EvalConfig.from_file(path, {"judge": {"model": "m"}, "match": {"rule": "inside"}})
    assert (config.judge.enabled, config.judge.model) == (False, "m")
    assert (config.match.rule, config.match.inside_min_tokens, config.seed) == ("inside", 4, 7)


def test_what_is_stored_keeps_the_variables_as_written(write: WriteYaml, monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret of the environment never comes into a run's file."""
    monkeypatch.setenv("RAG_TOKEN", "s3cret")
    path = write("server: {headers: {Authorization: 'Bearer ${RAG_TOKEN}'}}\nruns_dir: runs\n")
    written = EvalConfig.from_file(path).as_written()
    assert written["server"]["headers"]["Authorization"] == "Bearer ${RAG_TOKEN}"
    assert "s3cret" not in str(written)


def test_what_a_table_of_the_score_does_not_name_keeps_its_default() -> None:
    """In weights, feeds and thresholds alike, so that changing one objective does not drop the others."""
    scoring = EvalConfig.build(
        {"scoring": {"weights": {"latency": 0}, "feeds": {"retrieval": ["recall_at_20"]}, "thresholds": {"ms": 500}}}
    ).scoring
    default = ScoringConfig()
    assert scoring.weights == {**default.weights, "latency": 0}
    assert scoring.feeds == {**default.feeds, "retrieval": ["recall_at_20"]}
    assert scoring.thresholds == {**default.thresholds, "ms": 500}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1", "not valid YAML"),
        ("a: b: c", "not valid YAML"),
        ("- golden", "must hold keys and values, not list"),
        ("golden", "must hold keys and values, not str"),
        ("!!python/object:os.system {}", "not valid YAML"),
        ("seed: x", "configuration: seed"),
    ],
)
def test_a_bad_file_is_our_error(write: WriteYaml, text: str, message: str) -> None:
    """A configuration that is no YAML mapping is told in one sentence."""
    with pytest.raises(ConfigError, match=message):
        EvalConfig.from_file(write(text))


def test_an_empty_file_is_the_default_and_a_missing_one_is_named(write: WriteYaml, tmp_path: Path) -> None:
    """A file with comments only changes nothing."""
    assert EvalConfig.from_file(write("# nothing\n")) == EvalConfig()
    with pytest.raises(ConfigError, match=r"cannot read the configuration .*none\.yml: No such file"):
        EvalConfig.from_file(tmp_path / "none.yml")


@pytest.mark.parametrize(
    ("keys", "count"),
    [
        ({}, 100),
        ({"samples_per_dataset": "default"}, 100),
        ({"dataset_file": "q.csv"}, None),
        ({"dataset_file": "q.csv", "samples_per_dataset": "default"}, None),
        ({"dataset_file": "q.csv", "samples_per_dataset": 100}, 100),
        ({"dataset_file": None}, 100),
        ({"samples_per_dataset": None}, None),
    ],
    ids=str,
)
def test_the_default_number_of_questions_is_of_datasets_alone(keys: dict[str, Any], count: int | None) -> None:
    """All rows of a file are asked unless a number is said; what is stored says the number, whatever it came from."""
    config = EvalConfig(**keys)
    assert config.samples_per_dataset == count
    assert EvalConfig.build(config.as_written()).samples_per_dataset == count


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("judge:\n  enabeld: false\n", "unknown configuration key 'judge.enabeld' (FILE)"),
        ("name: x\nconcurrency: many\n", "(FILE)"),
        ("server:\n  ask: {pth: /q}\n", "server: ask.pth: unknown key (FILE)"),
        ("server:\n  map:\n    chunks: 'a['\n", "(FILE)"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_key_and_file(text: str, said: str, tmp_path: Path) -> None:
    """Of a key of the configuration, and of one of the server."""
    file = tmp_path / "config.yml"
    file.write_text(text)
    with pytest.raises(ConfigError) as raised:
        EvalConfig.from_file(file)
    assert said.replace("FILE", str(file)) in raised.value.message
    assert raised.value.message == str(raised.value)


def test_what_is_wrong_in_a_flag_stands_in_no_line(tmp_path: Path) -> None:
    """Though the file has the same key, with a value that is right."""
    file = tmp_path / "config.yml"
    file.write_text("server: {timeout_s: 5}\nconcurrency: 2\n")
    for over in ({"concurrency": "many"}, {"server": {"timeout_s": "soon"}}):
        with pytest.raises(ConfigError) as raised:
            EvalConfig.from_file(file, over).server_spec()
        assert "line" not in raised.value.message
