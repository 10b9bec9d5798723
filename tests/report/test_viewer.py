"""`evals view`: the pages of a folder over loopback HTTP, for whoever has the token."""

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from whole_runs import saved_run, valued_run

from evals.errors import ConfigError
from evals.report.viewer import bind, create_app, serve
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse

TOKEN = "secret"
Get = Callable[..., httpx.Response]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two runs, and the file of a third that is damaged."""
    for key in ("aaaa1111", "bbbb2222"):
        saved_run(
            tmp_path,
            [EvalRecord(question=EvalQuestion(id="q", question="Who?"), response=EvalResponse(answer="I."))],
            id=key,
        )
    (tmp_path / "cccc3333_20260101T000000Z.json").write_text("{")
    return tmp_path


@pytest.fixture
def get(folder: Path) -> Iterator[Get]:
    """Ask the viewer of the folder."""
    listener = bind(0)
    port = listener.getsockname()[1]
    threading.Thread(target=serve, args=(create_app(folder, TOKEN), listener), daemon=True).start()
    with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
        yield client.get


def test_the_list_names_runs_and_what_cannot_be_read(get: Get) -> None:
    """Newest first, grouped by server, with a link to each."""
    answer = get(f"/{TOKEN}/")
    assert answer.status_code == 200
    assert 'href="run/aaaa1111"' in answer.text
    assert "not listed" in answer.text
    assert "cccc3333" in answer.text


def test_a_run_and_a_comparison_are_the_pages_of_report(get: Get) -> None:
    """Several are named as often as they are chosen."""
    assert "What went wrong" in get(f"/{TOKEN}/run/aaaa1111").text
    answer = get(f"/{TOKEN}/compare", params={"run": ["bbbb2222", "aaaa1111", "aaaa1111"]})
    assert "over 1 common question" in answer.text


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 404),
        ("/wrong/", 404),
        (f"/{TOKEN}x/", 404),
        ("/docs", 404),
        ("/openapi.json", 404),
        (f"/{TOKEN}/run/zzzz", 404),
        (f"/{TOKEN}/run/..%2F..%2Fetc%2Fpasswd", 404),
        (f"/{TOKEN}/compare", 400),
    ],
)
def test_what_is_not_there_is_not_served(get: Get, path: str, status: int) -> None:
    """Without the token nothing is, and a path leads nowhere else."""
    assert get(path).status_code == status


def test_other_hosts_and_other_methods_are_refused(get: Get) -> None:
    """A page of another origin cannot read runs by a name that resolves to this machine."""
    assert get(f"/{TOKEN}/", headers={"Host": "evil.example"}).status_code == 400
    client: httpx.Client = get.__self__  # type: ignore[attr-defined]
    assert client.post(f"/{TOKEN}/").status_code == 405
    assert client.delete(f"/{TOKEN}/run/aaaa1111").status_code in (404, 405)


def test_pages_forbid_to_load_anything(get: Get) -> None:
    """Whatever a server's answer managed to put into a page."""
    policy = get(f"/{TOKEN}/run/aaaa1111").headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in policy


def test_an_unfinished_run_is_listed_and_a_run_saved_later_appears(get: Get, folder: Path) -> None:
    """The folder is read anew each time."""
    valued_run(folder, "dddd4444", {"mrr": [1.0] * 3})
    assert "dddd4444" in get(f"/{TOKEN}/").text


def test_a_port_in_use_is_one_clear_error() -> None:
    """It names the port and the flag."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"port {port} cannot be used"):
            bind(port)
