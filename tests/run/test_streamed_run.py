"""A run over a server that streams, with a profile as docs/profiles.md shows it."""

import asyncio
import json
import re
from pathlib import Path

import pytest
import yaml
from raw_server import answering

from evals.client import RAGClient
from evals.client.profile import resolve_spec
from evals.config import EvalConfig
from evals.runner import EvaluationRunner

HOME = Path(__file__).resolve().parents[2]
HEAD = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
CHUNK = {"chunk_id": "c1", "full_text": "The battery lasts 96 hours."}
STREAMS = {
    "openai-stream.yml": [
        'data: {"model": "m", "choices": [{"delta": {"content": "96 "}}]}\n\n',
        'data: {"choices": [{"delta": {"content": "hours"}}]}\n\n',
        'data: {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}}\n\ndata: [DONE]\n\n',
    ],
    "named-events.yml": [
        f"event: sources\ndata: {json.dumps({'sources': [CHUNK]})}\n\n",
        'event: token\ndata: {"token": "96 "}\n\nevent: token\ndata: {"token": "hours"}\n\nevent: done\ndata: {}\n\n',
    ],
}


def profile_of(name: str) -> str:
    """A profile as the page shows it."""
    page = (HOME / "docs" / "profiles.md").read_text(encoding="utf-8")
    (text,) = re.findall(rf"```yaml\n# {re.escape(name)}\n(.*?)```", page, re.DOTALL)
    return str(text)


@pytest.mark.parametrize("name", STREAMS)
def test_the_streaming_profiles_of_the_page_read_such_streams(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is the whole of a profile, as its server would be asked with it."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    path = tmp_path / name
    path.write_text(profile_of(name), encoding="utf-8")

    async def ask(url: str) -> tuple[str | None, int]:
        async with RAGClient(resolve_spec({"profile": str(path), "url": url})) as client:
            response = await client.ask("How long does it last?")
            assert response.error is None
            assert response.time_to_first_token_ms is not None
            return response.answer, len(response.chunks or [])

    with answering(lambda _: [HEAD, *(piece.encode() for piece in STREAMS[name]), None]) as server:
        assert asyncio.run(ask(server.url)) == ("96 hours", 0 if name.startswith("openai") else 1)
    assert yaml.safe_load(profile_of(name))["stream"]["delta"]


def test_a_run_over_a_stream_has_the_times_of_its_tokens(tmp_path: Path) -> None:
    """In the suite core, with an interval and the number of answers, as every metric has them."""
    path = tmp_path / "q.jsonl"
    path.write_text("\n".join(json.dumps({"question": f"Question {n}?"}) for n in range(5)), encoding="utf-8")
    with answering(lambda _: [HEAD, *(piece.encode() for piece in STREAMS["named-events.yml"]), None]) as server:
        keys = yaml.safe_load(profile_of("named-events.yml"))
        server_keys = {**keys, "map": {**keys["map"], "answer": None}, "url": server.url, "health": None, "info": []}
        config = EvalConfig.build(
            {"dataset_file": str(path), "runs_dir": str(tmp_path / "runs"), "judge": False, "preflight": False}
            | {"server": server_keys}
        )
        run = asyncio.run(EvaluationRunner(config).run())
    first = run.scorecard.get("time_to_first_token_p50")
    assert first is not None
    assert (first.sample_size, run.status) == (5, "complete")
    assert (first.value or 0) > 0
    rate = run.scorecard.get("output_tokens_per_second")
    assert rate is not None
    assert rate.value is None
