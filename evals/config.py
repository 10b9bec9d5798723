"""The configuration of an evaluation: defaults, a YAML file, and what overrides both."""

import os
import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ModelWrapValidatorHandler, ValidationError, field_validator, model_validator

from evals.client.profile import resolve_spec
from evals.client.spec import ServerSpec
from evals.datasets.columns import QUESTION_COLUMNS as FIELDS
from evals.datasets.columns import field_of
from evals.errors import ConfigError, UnknownNameError, withdrawn_key
from evals.judges.config import DEFAULT_PROVIDER, JudgeConfig, spell_out_model
from evals.judges.money import PriceConfig
from evals.judges.prompts import PromptBook
from evals.judges.rubrics import RubricConfig, rubric_metric, rubrics_among
from evals.metrics.base import BaseMetric
from evals.metrics.custom import as_metric, beside
from evals.metrics.embedders import SemanticConfig
from evals.metrics.registry import put, register
from evals.schemas.base import Finite, MayChange, Record
from evals.scoring.config import ScoringConfig
from evals.scoring.settings import ScoreSettings
from evals.secrets import public_url, without_credentials
from evals.store.runs import DEFAULT_RUNS_DIR
from evals.text.matching import MatchSettings as MatchConfig
from evals.text.yaml_files import FileLayer, Problem, first_problem, holds, merge, nearest_hint, read_yaml

__all__ = ["DEFAULT_SUITE", "DatasetName", "EvalConfig"]

DEFAULT_SUITE = "core"


_SHARD = re.compile(r"(\d{1,9})/(\d{1,9})")

_MOST_SHARDS = 10_000


class DatasetName(StrEnum):
    """The built-in datasets."""

    RAGBENCH = "ragbench"
    QASPER = "qasper"
    SQUAD_V2 = "squad_v2"
    HOTPOTQA = "hotpotqa"
    MSMARCO = "msmarco"
    GOLDEN = "golden"


class EvalConfig(Record):
    """Everything that decides what an evaluation does; marks say what may change of a run that has begun.

    `rag_server_url` is accepted as a short form of `server.url`, a single bool as `judge.enabled`, and a text with
    commas as a list of names.

    Raises:
        ConfigError: A key is unknown or a value wrong; the message names the key.
    """

    name: Annotated[str | None, MayChange.ON_RESCORE] = None
    """Name of the run; "eval-<id>" where None."""
    datasets: list[str] | None = None
    """Names, each with `:config` where another config is wanted. None: ragbench, or golden with `embedded`."""
    dataset_file: Path | None = None
    """Questions of your own, which replace the datasets."""
    columns: dict[str, str] = {}
    """Of `dataset_file`: by field, the column that holds it, where its name does not say so."""
    data_dir: Path | None = None
    """Folder of local rows, instead of the hub."""
    samples_per_dataset: int | None = Field(default=100, ge=1)
    """How many questions of each dataset; 0 or None for all. Where it is not said ("default"), 100, and of
    `dataset_file` all."""
    stratify: str | None = Field(default=None, min_length=1)
    """Of a log that is scored: the key by whose values a sample is drawn, such as feedback. See docs/production.md."""
    seed: int = 42
    shard: str | None = None
    """Which part of the questions this run asks, such as 2/7; `merge` makes one run of all. Gates are left to that, and
    a shard has its share of `judge.max_cost_usd`."""
    suite: Annotated[list[str] | None, MayChange.ON_RESCORE] = None
    """Suites of metrics. None: core, or only the metrics that are named."""
    metrics: Annotated[list[str], MayChange.ON_RESCORE] = []
    """Metrics by name, in addition to those of the suites. One of your own is named by its file, relative to the
    configuration: `./metrics.py:answer_words`; from Python a `BaseMetric` may stand here. See docs/own-measures.md."""
    judged: Annotated[dict[str, RubricConfig], MayChange.ON_RESCORE] = {}
    """Metrics of your own on which the judge decides: by name, what is asked in plain words. See docs/judge.md."""
    server: dict[str, Any] = {}
    """Keys laid over the profile's: see docs/profiles.md."""
    variants: dict[str, dict[str, Any]] = {}
    """By label, keys laid over `server`: each is a run of its own over the same questions, asked in turn with the
    others, and they are compared at the end. See docs/compare.md."""
    repeats: int = Field(default=1, ge=1, le=100)
    """How often each question is asked: all of them once, then all of them again. See docs/compare.md."""
    embedded: bool = False
    """Start the built-in reference server and evaluate that."""
    ingest: bool = False
    """Upload the datasets' documents first."""
    preflight: Annotated[bool, MayChange.ON_RESUME] = True
    """Stop where the server holds none of the documents that the questions are about."""
    concurrency: Annotated[int, MayChange.ON_RESUME] = Field(default=4, ge=1, le=256)
    rps: Annotated[Finite | None, MayChange.ON_RESUME] = Field(default=None, ge=0.001)
    """At most this many requests start in a second; at least 0.001, as less is a slip: hours for a few questions."""
    dask: Annotated[str | None, MayChange.ON_RESUME] = Field(default=None, min_length=1)
    """Ask on a Dask cluster: "local" starts one on this machine, else the address of a scheduler. See docs/scale.md."""
    max_attempts: int = Field(default=3, ge=1, le=10)
    warmup: int = Field(default=1, ge=0, le=100)
    """Questions asked first, recorded and unscored."""
    on_error: Annotated[Literal["exclude", "worst"], MayChange.ON_RESCORE] = "exclude"
    """Whether a question without an answer is left out of quality, or counts as the worst value."""
    max_error_rate: Annotated[Finite, MayChange.ON_RESUME, MayChange.ON_RESCORE] = Field(default=0.1, ge=0, le=1)
    """With more failures than this the run is partial, and the exit code 4."""
    match: Annotated[MatchConfig, MayChange.ON_RESCORE] = MatchConfig()
    judge: Annotated[JudgeConfig, MayChange.ON_RESCORE] = JudgeConfig()
    semantic: Annotated[SemanticConfig, MayChange.ON_RESCORE] = SemanticConfig()
    prices: Annotated[dict[str, PriceConfig], MayChange.ON_RESCORE] = {}
    """By model; they go before what the server says of itself."""
    scoring: Annotated[ScoringConfig, MayChange.ON_RESCORE] = ScoringConfig()
    confidence: Annotated[Finite, MayChange.ON_RESCORE] = Field(default=0.95, gt=0.5, lt=1)
    """Of all intervals."""
    gate: Annotated[list[str], MayChange.ON_RESUME, MayChange.ON_RESCORE] = []
    """Conditions on metrics, such as recall_at_5>=0.8 or recall_at_5@low>=0.8; where one fails the exit code is 1."""
    allow_uncalibrated: Annotated[bool, MayChange.ON_RESUME, MayChange.ON_RESCORE] = False
    """Whether a gate may be on a judged metric by which the judge was never calibrated."""
    runs_dir: Annotated[Path, MayChange.ON_RESUME, MayChange.ON_RESCORE] = Path(DEFAULT_RUNS_DIR)

    @model_validator(mode="wrap")
    @classmethod
    def _in_our_words(cls, data: Any, check: ModelWrapValidatorHandler[Self]) -> Self:
        # Around everything, so that the constructor too raises what `build` does: no ValueError, pydantic lets it pass.
        try:
            return check(_of_its_questions(_spell_out(data)) if isinstance(data, Mapping) else data)
        except ValidationError as error:
            raise _explain(first_problem(error, cls)) from error

    @field_validator("samples_per_dataset", mode="before")
    @classmethod
    def _zero_is_all(cls, value: Any) -> Any:
        if isinstance(value, int) and value < 0:
            raise ValueError(f"must be a number of questions, or 0 for all, not {value}")
        return None if value == 0 and not isinstance(value, bool) else value

    @field_validator("runs_dir", "data_dir", "dataset_file", mode="before")
    @classmethod
    def _names_a_path(cls, value: Any) -> Any:
        if value == "":
            raise ValueError("must not be empty")
        return value

    @field_validator("concurrency", mode="before")
    @classmethod
    def _is_one_level(cls, value: Any) -> Any:
        if isinstance(value, list) or (isinstance(value, str) and "," in value):
            raise ValueError("must be one number: run once for each concurrency, and compare the runs")
        return value

    @field_validator("shard", mode="before")
    @classmethod
    def _is_a_part(cls, value: Any) -> Any:
        if value is None:
            return None
        found = _SHARD.fullmatch(str(value).strip())
        if found is None or not 1 <= int(found[1]) <= int(found[2]) <= _MOST_SHARDS:
            raise ValueError(f"must be a part such as 2/7: the second of seven (at most {_MOST_SHARDS:,})")
        return f"{int(found[1])}/{int(found[2])}"

    @field_validator("columns", mode="before")
    @classmethod
    def _pairs(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        pairs = [pair.partition("=") for pair in value.split(",") if pair.strip()]
        if not all(field.strip() and column.strip() for field, _, column in pairs):
            raise ValueError("must be FIELD=COLUMN, with commas between several")
        return {field.strip(): column.strip() for field, _, column in pairs}

    @field_validator("columns")
    @classmethod
    def _fields_exist(cls, columns: dict[str, str]) -> dict[str, str]:
        columns = {field_of(name): column for name, column in columns.items()}
        for field in columns:
            if field not in FIELDS:
                raise ValueError(f"a question has no field {field!r} ({nearest_hint(field, FIELDS)})")
        return columns

    @field_validator("datasets", "suite", "metrics", mode="before")
    @classmethod
    def _names(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        names = [name.strip() for name in value.split(",") if name.strip()]
        if not names:
            raise ValueError("must be one name or more, with commas between them")
        return names

    @field_validator("metrics", mode="before")
    @classmethod
    def _registered(cls, value: Any) -> Any:
        """The names of metrics that are passed as objects."""
        if not isinstance(value, list | tuple):
            return value
        own: dict[str, BaseMetric] = {}
        given = [each if isinstance(each, str) else as_metric(each) for each in value]
        for each in given:
            if isinstance(each, BaseMetric):
                put(register(each), own)
        return [each if isinstance(each, str) else each.name for each in given]

    @field_validator("judged")
    @classmethod
    def _rubrics_can_be_asked(cls, judged: dict[str, RubricConfig]) -> dict[str, RubricConfig]:
        for name, spec in judged.items():
            register(rubric_metric(name, spec))
        return judged

    @field_validator("gate", mode="before")
    @classmethod
    def _one_condition(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @property
    def part(self) -> tuple[int, int]:
        """Which part of the questions is asked, from 1, and how many there are."""
        number, _, count = (self.shard or "1/1").partition("/")
        return int(number), int(count)

    @property
    def budget_usd(self) -> float | None:
        """What the judge of this run may cost: of a shard its share."""
        budget = self.judge.max_cost_usd
        return None if budget is None else budget / self.part[1]

    @property
    def rag_server_url(self) -> str:
        """The URL of the server: from the configuration, else RAG_SERVER_URL, else the profile's, else the default."""
        return self.server_spec().url

    @property
    def dataset_names(self) -> list[str]:
        """The datasets that are asked for, defaults filled in."""
        if self.datasets is not None:
            return list(self.datasets)
        return [DatasetName.GOLDEN.value if self.embedded else DatasetName.RAGBENCH.value]

    @property
    def suite_names(self) -> list[str]:
        """The suites to compute: none where metrics are named and the suite is the default."""
        if self.suite is None:
            return [] if self.metrics else [DEFAULT_SUITE]
        return list(self.suite)

    def server_spec(self) -> ServerSpec:
        """The server's specification: its profile with this configuration laid over it.

        Raises:
            ConfigError: The profile does not exist, or a key is wrong.
        """
        named = os.environ.get("RAG_SERVER_URL")
        return resolve_spec({**({"url": named} if named else {}), **self.server})

    def score_settings(self, *, judged: bool = False, citation_base: int | None = None) -> ScoreSettings:
        """How a run of this configuration scores its records, as far as it is known before models are loaded.

        Args:
            judged: Whether a judge takes part.
            citation_base: Of the server that is asked, where it is another than the configured one.
        """
        return ScoreSettings(
            match=self.match,
            citation_base=self.server_spec().citations.base if citation_base is None else citation_base,
            worst_on_error=self.on_error == "worst",
            confidence=self.confidence,
            judged=judged,
            cluster=self.scoring.cluster,
            keeps_flagged=self.judge.on_injection == "keep",
            prompts=self.judge.prompt_book() if judged else PromptBook(),
        )

    @classmethod
    def build(cls, *layers: Mapping[str, Any]) -> "EvalConfig":
        """Build a configuration of layers, of which later ones go before earlier ones.

        Raises:
            ConfigError: A key is unknown or a value wrong; the message names the key, and where it stands in a file.
        """
        merged: dict[str, Any] = {}
        for layer in layers:
            spelt = _spell_out(layer)
            _refuse_foreign_address(merged.get("judge"), spelt.get("judge"))
            merged = merge(merged, spelt)
        try:
            config = cls.model_validate(merged)
            if any(isinstance(layer, FileLayer) and "server" in layer for layer in layers):
                config.server_spec()  # now, as long as the file is known
        except ConfigError as error:
            above = error.key.rpartition(".")[0]
            named = [layer for layer in layers if isinstance(layer, FileLayer) and holds(layer, above or error.key)]
            if named:
                error.stands(str(named[-1].file))
            raise
        return config

    @classmethod
    def from_file(cls, path: Path | str, overrides: Mapping[str, Any] | None = None) -> "EvalConfig":
        """Read a configuration file.

        Args:
            path: A YAML file with the keys of this class.
            overrides: What goes before the file, such as flags.

        Raises:
            ConfigError: The file cannot be read, a key is unknown or a value wrong.
        """
        return cls.build(read_yaml(Path(path), "configuration"), overrides or {})

    def as_written(self) -> dict[str, Any]:
        """What is stored with a run: all values, with ${ENV} as written and without credentials."""
        data = self.model_dump(mode="json")
        data["server"] = without_credentials(data["server"])
        data["variants"] = {label: without_credentials(over) for label, over in data["variants"].items()}
        return data


def _spell_out(layer: Mapping[str, Any]) -> dict[str, Any]:
    """Write short forms in full: before layers are merged, else a short form in one would hide from another."""
    data = dict(layer)
    if isinstance(layer, FileLayer) and "metrics" in data:
        data["metrics"] = beside(layer.file.parent, data["metrics"])
    url = data.pop("rag_server_url", None)
    server = data.get("server") or {}
    if url is not None and isinstance(server, Mapping):
        data["server"] = {**server, "url": url}
    data |= _rubrics(data.get("judged"), data.get("metrics"))
    if isinstance(data.get("judge"), bool):
        data["judge"] = {"enabled": data["judge"]}
    elif isinstance(data.get("judge"), Mapping):
        data["judge"] = spell_out_model(data["judge"])
    return data


def _rubrics(judged: Any, metrics: Any) -> dict[str, Any]:
    """The keys that hold the rubrics: those among the metrics are defined with the others, and a text is `ask`."""
    data: dict[str, Any] = {}
    if isinstance(metrics, list | tuple) and (given := rubrics_among(metrics)):
        data["metrics"] = [each.name if rubrics_among([each]) else each for each in metrics]
        judged = {**(judged or {}), **given}
    if isinstance(judged, Mapping):
        data["judged"] = {name: {"ask": each} if isinstance(each, str) else each for name, each in judged.items()}
    return data


def _of_its_questions(data: Mapping[str, Any]) -> dict[str, Any]:
    """The keys with the number of questions, where none is said: it depends on where the questions come from.

    Raises:
        ConfigError: Columns are said of a file, and there is none.
    """
    given = {key: value for key, value in data.items() if (key, value) != ("samples_per_dataset", "default")}
    if given.get("columns") and given.get("dataset_file") is None:
        raise ConfigError("columns are those of a dataset file, and none is named", "name it with --dataset-file")
    return {"samples_per_dataset": None, **given} if given.get("dataset_file") is not None else given


def _refuse_foreign_address(below: Any, above: Any) -> None:
    """Stop where a layer changes the provider and would take over the address of another: a key would be sent there."""
    if not isinstance(below, Mapping) or not isinstance(above, Mapping) or not below.get("base_url"):
        return
    before = below.get("provider", DEFAULT_PROVIDER)
    after = above.get("provider", before)
    if after != before and "base_url" not in above:
        raise ConfigError(
            f"judge.base_url {public_url(str(below['base_url']))} is of {before}, and the judge is {after}'s",
            "give the address too (--judge-base-url), or put provider and base_url side by side in the configuration",
        )


def _explain(problem: Problem) -> ConfigError:
    if (gone := withdrawn_key(problem.key)) is not None:
        error: ConfigError = gone
    elif problem.known:
        section, _, name = problem.key.rpartition(".")
        known = problem.known if section else (*problem.known, "rag_server_url")
        error = UnknownNameError("configuration key", name, known, section=section)
    else:
        error = ConfigError(f"configuration: {problem}", problem.hint or "docs/configuration.md documents every key")
    error.key = problem.key
    return error
