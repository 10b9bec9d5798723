"""The origin of a judge: what is saved with a run, and part of the cache's key."""

import pytest
from evals.judges.backends.base import Call, Identity, origin_of
from evals.judges.backends.openai import OpenAIBackend
from evals.judges.backends.providers import PROVIDERS

from evals.judges.cache import JudgeCache


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        (PROVIDERS["anthropic"].home, "https://api.anthropic.com"),
        (PROVIDERS["openai"].home, "https://api.openai.com"),
        ("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434"),
        ("http://127.0.0.1:11434/", "http://127.0.0.1:11434"),
        ("https://Gateway.example/Team-A/v1/", "https://gateway.example/Team-A/v1"),
        ("https://me:secret@gateway.example/b/?token=x#y", "https://gateway.example/b"),
        ("https://gateway.example/v2", "https://gateway.example/v2"),
    ],
)
def test_an_origin_keeps_the_path_and_no_secret(url: str, origin: str) -> None:
    """Without its last slash, its login, query and fragment; the version alone is no path."""
    assert origin_of(url) == origin


def test_a_reply_of_another_path_is_not_taken_from_the_cache() -> None:
    """A gateway may have another model behind each."""
    call = Call(system="s", content="c", schema={}, max_tokens=1)
    paths = ("v1", "a/v1", "b/v1", "A/v1", "v1/b")
    origins = [OpenAIBackend("m", base_url=f"http://h/{path}", api_key="k").origin for path in paths]
    keys = {JudgeCache.key(Identity("m", origin, "openai"), call, 0) for origin in origins}
    assert len(keys) == len(paths)
