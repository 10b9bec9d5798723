"""The configuration of an evaluation: defaults, a YAML file, and what overrides both."""

import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ModelWrapValidatorHandler, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError

from evals.case.matching import MatchSettings, Rule
from evals.client.profile import resolve_spec
from evals.client.spec import ServerSpec
from evals.credentials.stored import public_url, without_credentials
from evals.datasets.imports.columns import NAMES as FIELDS
from evals.errors import ConfigError, UnknownNameError
from evals.inputs.problems import Problem, first_problem, nearest_hint
from evals.inputs.yaml_layers import merge, read_yaml
from evals.judges.backends.address import problem_with_address
from evals.judges.backends.providers import PROVIDERS, split_model
from evals.schemas.base import Finite, Record
from evals.scoring.config import ScoringConfig
from evals.semantics.loading import ModelChoice

__all__ = [
    "DEFAULT_PROVIDER",
    "DEFAULT_RUNS_DIR",
    "DEFAULT_SUITE",
    "DatasetName",
    "EvalConfig",
    "JudgeConfig",
    "MatchConfig",
    "PriceConfig",
    "ScoringConfig",
    "SemanticConfig",
]

DEFAULT_SUITE = "core"
DEFAULT_RUNS_DIR = "data/eval_runs"
DEFAULT_PROVIDER = "anthropic"
_DEFAULT_JUDGE = "claude-sonnet-5-5"


class DatasetName(StrEnum):
    """The built-in datasets."""

    RAGBENCH = "ragbench"
    QASPER = "qasper"
    SQUAD_V2 = "squad_v2"
    HOTPOTQA = "hotpotqa"
    MSMARCO = "msmarco"
    GOLDEN = "golden"


class MatchConfig(Record):
    """How a retrieved chunk is recognised as gold (see docs/matching.md)."""

    rule: Rule = "auto"
    overlap_threshold: Finite = Field(default=0.7, gt=0, le=1)
    overlap_pairs_threshold: Finite = Field(default=0.6, ge=0, le=1)
    overlap_min_tokens: int = Field(default=8, ge=2)
    inside_min_tokens: int = Field(default=20, ge=1)
    short_gold_tokens: int = Field(default=8, ge=1)

    def settings(self) -> MatchSettings:
        """The same, as metrics take it."""
        return MatchSettings(**self.model_dump())


def _spell_out_model(judge: Mapping[str, Any]) -> dict[str, Any]:
    """The judge's keys with `provider:model` taken apart; the prefix goes before the provider."""
    data = dict(judge)
    provider, model = split_model(data["model"]) if isinstance(data.get("model"), str) else (None, None)
    return {**data, "provider": provider, "model": model} if provider else data


class JudgeConfig(Record):
    """The LLM judge of the generation metrics."""

    enabled: bool = True
    provider: str = DEFAULT_PROVIDER
    """Whose API it is reached by: a name in `evals.judges.backends.providers.PROVIDERS`."""
    model: str = _DEFAULT_JUDGE
    """`provider:model` gives both."""
    base_url: str | None = None
    """Another address of the provider's API; ANTHROPIC_BASE_URL or OPENAI_BASE_URL where None."""
    repeats: int = Field(default=1, ge=1, le=10)
    """How often each decision is made; the median counts, and how often they disagree is recorded."""
    concurrency: int = Field(default=8, ge=1, le=256)
    cache: bool = True
    """Keep replies under <runs_dir>/.judge-cache, so that the same question is paid for once."""
    max_cost_usd: Finite | None = Field(default=None, gt=0)
    """No call starts once so much was spent; the run is partial then."""

    @model_validator(mode="before")
    @classmethod
    def _long_form(cls, data: Any) -> Any:
        return _spell_out_model(data) if isinstance(data, Mapping) else data

    @field_validator("provider")
    @classmethod
    def _provider_exists(cls, provider: str) -> str:
        if provider not in PROVIDERS:
            raise ValueError(f"no such provider: {provider!r} (there are {', '.join(PROVIDERS)})")
        return provider

    @field_validator("base_url")
    @classmethod
    def _address_can_be_one(cls, base_url: str | None) -> str | None:
        problem = None if base_url is None else problem_with_address(base_url)
        if problem:
            raise ValueError(problem)
        return base_url

    @model_validator(mode="after")
    def _model_is_the_providers(self) -> Self:
        if not self.model or (self.provider != DEFAULT_PROVIDER and self.model == _DEFAULT_JUDGE):
            raise PydanticCustomError(
                "judge_model",
                "name a model of {provider}",
                {
                    "provider": self.provider,
                    "hint": f"{self.provider}:NAME is one of {self.provider} (--judge-model); "
                    f"for Claude write {DEFAULT_PROVIDER}:{_DEFAULT_JUDGE}",
                },
            )
        return self


class SemanticConfig(Record):
    """The models that compare texts by meaning (extra `semantic`; see docs/semantic.md)."""

    embedder: str = "sentence-transformers/all-MiniLM-L6-v2"
    """A model of sentence-transformers: its id on the hub, or its folder."""
    bert_score_model: str = "microsoft/deberta-xlarge-mnli"
    """The model of BERTScore: its id on the hub, or its folder."""
    bert_score_layers: int | None = Field(default=None, ge=1)
    """The layer that is compared; bert-score's choice for the model where None, which it does not have for a folder."""
    bert_score_rescale: bool = False
    """Spread scores by bert-score's English baseline for the model; 0.85 means something else then."""
    sentence_coverage_threshold: Finite = Field(default=0.85, ge=0, le=1)
    """From which BERTScore on a key sentence counts as covered."""
    device: str | None = None
    """Where the models run, such as cpu or cuda:1; the best there is where None."""

    def choice(self, *, embedder: bool, scorer: bool) -> ModelChoice:
        """The same, as models are loaded by it: those that are wanted."""
        return ModelChoice(
            embedder=_folder(self.embedder) if embedder else None,
            scorer=_folder(self.bert_score_model) if scorer else None,
            layers=self.bert_score_layers,
            rescale=self.bert_score_rescale,
            device=self.device,
            coverage_threshold=self.sentence_coverage_threshold,
        )


def _folder(model: str) -> str:
    return str(Path(model).expanduser()) if model.startswith("~") else model


class PriceConfig(Record):
    """US dollars for a million tokens of a model; those of a judge that are cached cost as `input` where None."""

    input: Finite = Field(ge=0)
    output: Finite = Field(ge=0)
    cache_read: Finite | None = Field(default=None, ge=0)
    cache_write: Finite | None = Field(default=None, ge=0)


class EvalConfig(Record):
    """Everything that decides what an evaluation does.

    `rag_server_url` is accepted as a short form of `server.url`, a single bool as `judge.enabled`, and a text with
    commas as a list of names.

    Raises:
        ConfigError: A key is unknown or a value wrong; the message names the key.
    """

    name: str | None = None
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
    seed: int = 42
    suite: list[str] | None = None
    """Suites of metrics. None: core, or nothing beside the metrics that are named."""
    metrics: list[str] = []
    """Metrics by name, beside those of the suites."""
    server: dict[str, Any] = {}
    """Keys laid over the profile's: see docs/profiles.md."""
    embedded: bool = False
    """Start the built-in reference server and evaluate that."""
    ingest: bool = False
    """Upload the datasets' documents first."""
    preflight: bool = True
    """Stop where the server holds none of the documents that the questions are about."""
    concurrency: int = Field(default=4, ge=1, le=256)
    rps: Finite | None = Field(default=None, gt=0)
    """At most so many requests start in a second."""
    max_attempts: int = Field(default=3, ge=1, le=10)
    warmup: int = Field(default=1, ge=0, le=100)
    """Questions asked first, recorded and unscored."""
    on_error: Literal["exclude", "worst"] = "exclude"
    """Whether a question without an answer is left out of quality, or counts as the worst value."""
    max_error_rate: Finite = Field(default=0.1, ge=0, le=1)
    """With more failures than this the run is partial, and the exit code 4."""
    match: MatchConfig = MatchConfig()
    judge: JudgeConfig = JudgeConfig()
    semantic: SemanticConfig = SemanticConfig()
    prices: dict[str, PriceConfig] = {}
    """By model; they go before what the server says of itself."""
    scoring: ScoringConfig = ScoringConfig()
    confidence: Finite = Field(default=0.95, gt=0.5, lt=1)
    """Of all intervals."""
    gate: list[str] = []
    """Conditions on metrics, such as recall_at_5>=0.8; where one fails the exit code is 1."""
    runs_dir: Path = Path(DEFAULT_RUNS_DIR)

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
        return None if value == 0 and not isinstance(value, bool) else value

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
        for field in columns:
            if field not in FIELDS:
                raise ValueError(f"a question has no field {field!r} ({nearest_hint(field, FIELDS)})")
        return columns

    @field_validator("datasets", "suite", "metrics", mode="before")
    @classmethod
    def _names(cls, value: Any) -> Any:
        return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value

    @field_validator("gate", mode="before")
    @classmethod
    def _one_condition(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

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

    @classmethod
    def build(cls, *layers: Mapping[str, Any]) -> "EvalConfig":
        """Build a configuration of layers, of which later ones go before earlier ones.

        Raises:
            ConfigError: A key is unknown or a value wrong; the message names the key.
        """
        merged: dict[str, Any] = {}
        for layer in layers:
            spelt = _spell_out(layer)
            _refuse_foreign_address(merged.get("judge"), spelt.get("judge"))
            merged = merge(merged, spelt)
        return cls.model_validate(merged)

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
        return data


def _spell_out(layer: Mapping[str, Any]) -> dict[str, Any]:
    """Write short forms in full: before layers are merged, else a short form in one would hide from another."""
    data = dict(layer)
    url = data.pop("rag_server_url", None)
    server = data.get("server") or {}
    if url is not None and isinstance(server, Mapping):
        data["server"] = {**server, "url": url}
    if isinstance(data.get("judge"), bool):
        data["judge"] = {"enabled": data["judge"]}
    elif isinstance(data.get("judge"), Mapping):
        data["judge"] = _spell_out_model(data["judge"])
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
    if problem.beside:
        section, _, name = problem.key.rpartition(".")
        known = problem.beside if section else (*problem.beside, "rag_server_url")
        return UnknownNameError("configuration key", name, known, section=section)
    return ConfigError(f"configuration: {problem}", problem.hint or "eval_config.yml documents every key")
