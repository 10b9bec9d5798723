"""Who gets an answer from `evals view`, asked over loopback HTTP."""

import http.client
import socket
from collections.abc import Callable, Iterator

import httpx
import pytest
from viewer.shown import TOKEN, Shown, showing

from evals.errors import ConfigError
from evals.report.app import bind
from evals.schemas import EvalRun
from evals.store.runs import RunStore

Show = Callable[..., Shown]
Save = Callable[..., EvalRun]


def is_bare(answer: httpx.Response, status: int) -> bool:
    return (answer.status_code, answer.content) == (status, b"")


@pytest.fixture(scope="module")
def shown(save: Save, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    """A folder with a run, a run beside the folder, and links from one to the other; labels can be given."""
    folder = tmp_path_factory.mktemp("shown")
    with showing(folder / "runs", labels=True) as found:
        save(found.store, "abcd1234")
        other = RunStore(folder / "elsewhere")
        other.prepare()
        run = save(other, "secret01")
        (found.store.folder / other.run_path(run).name).symlink_to(other.run_path(run))
        half = save(found.store, "half0001")
        found.store.records_path(half).unlink()
        found.store.records_path(half).symlink_to(other.records_path(run))
        yield found


PATHS = ["", "api/runs", "runs/abcd1234/", "runs/abcd1234/block/report", "assets/runs.js", "api/runs/abcd1234/labels"]


@pytest.mark.parametrize("path", PATHS)
def test_whoever_has_the_token_gets_an_answer_and_nobody_else(path: str, shown: Shown) -> None:
    """Without it, with a part of it, or with one more letter there is a bare 404, whatever the path."""
    assert shown.get(path).status_code == 200
    for token in ("", "x/", f"{TOKEN[:-1]}/", f"{TOKEN}x/", f"%20{TOKEN}/"):
        answer = shown.client.get(f"http://127.0.0.1:{shown.port}/{token}{path}")
        assert is_bare(answer, 404), token


def test_a_token_anywhere_else_is_none(shown: Shown) -> None:
    """Not as a cookie, a header or a parameter, which a browser would send on behalf of others."""
    url = f"http://127.0.0.1:{shown.port}/"
    headers = {"Cookie": f"token={TOKEN}", "Authorization": f"Bearer {TOKEN}"}
    assert is_bare(shown.client.get(f"{url}?token={TOKEN}", headers=headers), 404)
    assert "set-cookie" not in shown.get().headers


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:{port}", 200),
        ("localhost:{port}", 200),
        ("LOCALHOST:{port}", 200),
        ("127.0.0.1", 404),
        ("127.0.0.1:1", 404),
        ("rebound.example:{port}", 404),
        ("localhost.rebound.example:{port}", 404),
        ("", 404),
    ],
)
def test_another_host_gets_nothing(host: str, status: int, shown: Shown) -> None:
    """A name that somebody made point to this machine is refused even with the token."""
    answer = shown.get("api/runs", host=host.format(port=shown.port))
    assert answer.status_code == status
    assert (answer.content == b"") == (status != 200)


ORIGINS = [
    {"origin": "http://other.example"},
    {"origin": "null"},
    {"origin": "http://127.0.0.1:1"},
    {"origin": "https://127.0.0.1:{port}"},
    {"sec_fetch_site": "cross-site"},
    {"sec_fetch_site": "same-site"},
    {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "iframe"},
]


@pytest.mark.parametrize("headers", ORIGINS, ids=str)
@pytest.mark.parametrize("path", ["", "api/runs", "runs/abcd1234/block/abcd1234/overview", "assets/runs.js"])
def test_a_page_of_another_origin_gets_nothing(path: str, headers: dict[str, str], shown: Shown) -> None:
    """Even one that knows the token, and another port of this machine is another origin; nothing allows to read it."""
    sent = {name: value.format(port=shown.port) for name, value in headers.items()}
    answer = shown.get(path, **sent)
    assert is_bare(answer, 403)
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_click_on_the_address_opens_the_page_and_nothing_else(shown: Shown) -> None:
    """From wherever it stands; data cannot be opened so from another site."""
    click = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}
    assert shown.get(**click).status_code == 200
    assert shown.get("runs/abcd1234/", **click).status_code == 200
    assert is_bare(shown.get("api/runs", **click), 403)


@pytest.mark.parametrize("path", ["", "api/runs", "no/such/path", "runs/nobody00/"])
def test_every_answer_forbids_to_run_to_embed_or_to_keep_it(path: str, shown: Shown) -> None:
    """And says so where the token is wrong too."""
    for answer in (shown.get(path), shown.client.get(f"http://127.0.0.1:{shown.port}/x/{path}")):
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        told = {name: answer.headers[name] for name in ("x-content-type-options", "referrer-policy", "cache-control")}
        assert told == {
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            "cache-control": "no-store",
        }


OUTSIDE = [
    "runs/..%2Fsecret/",
    "runs/%2e%2e/",
    "runs/%2e%2e%2f%2e%2e%2fetc%2fpasswd/",
    "api/runs/..%2f..%2fsecret0%2flabels",
    "api/runs/%2e%2e/labels",
    "api/runs/{outside}/labels",
    "api/runs/abcd/labels",
    "api/runs/last/labels",
    "api/runs/abcd1234_20260115T100000Z.json/labels",
    "api/runs/secret01/progress",
    "runs/secret01/block/secret01/overview",
    "runs/abcd1234/block/secret01/overview",
    "assets/..%2f..%2fpages.py",
    "assets/%2e%2e/pages.py",
    "assets/page.html",
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_path_outside_the_folder_gets_nothing(path: str, shown: Shown) -> None:
    """Nor a run of another folder by its path, the start of an id, a name or `last`: whole ids of this folder alone."""
    outside = next((shown.store.folder.parent / "elsewhere").glob("*Z.json"))
    status, body = raw_get(shown, path.format(outside=str(outside).replace("/", "%2f")))
    assert status in {404, 422}
    assert b"mrr" not in body


def raw_get(shown: Shown, path: str) -> tuple[int, bytes]:
    """Ask for a path as it is written: a client would fold its dots away."""
    connection = http.client.HTTPConnection("127.0.0.1", shown.port, timeout=10)
    try:
        connection.request("GET", f"/{TOKEN}/{path}")
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_a_link_that_leaves_the_folder_leads_nowhere(shown: Shown) -> None:
    """A link to a run elsewhere is no run of this folder, and one to records elsewhere gives none of them."""
    assert [row["id"] for row in shown.get("api/runs").json()["runs"]] == ["abcd1234", "half0001"]
    for path in ("runs/secret01/", "runs/half0001/block/half0001/details/0", "api/runs/half0001/labels"):
        assert shown.get(path).status_code == 404, path


def test_without_labelling_no_route_writes(show: Show, save: Save) -> None:
    """Whatever the method; and there is nothing to read of labels either."""
    shown = show()
    save(shown.store, "abcd1234")
    origin = {"Origin": f"http://127.0.0.1:{shown.port}"}
    for path in ("", "api/runs", "api/runs/abcd1234/labels", "runs/abcd1234/", "runs/abcd1234/block/report"):
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            answer = shown.client.request(method, shown.url + path, json={}, headers=origin)
            assert answer.status_code in {404, 405}, (method, path)
    assert shown.get("api/runs/abcd1234/labels").status_code == 404
    assert not (shown.store.folder / "reviews").exists()


def test_it_listens_on_this_machine_alone() -> None:
    """And a port in use is one message with a way out."""
    with bind(0) as listener:
        host, port = listener.getsockname()
        assert host == "127.0.0.1"
        with pytest.raises(ConfigError, match=f"cannot listen on 127.0.0.1:{port}: Address already in use") as said:
            bind(port)
        assert "--port" in str(said.value.hint)
    with socket.create_server(("127.0.0.1", port)):
        pass


def test_a_link_that_leads_to_itself_is_not_there(show: Show, save: Save) -> None:
    """It leads nowhere: the runs beside it are listed all the same, and so they are beside a link of records."""
    found = show()
    run, other = save(found.store, "abcd1234"), save(found.store, "half0001")
    loop = found.store.run_path(run).with_name("00000000_20260101T000000Z.json")
    loop.symlink_to(loop)
    records = found.store.records_path(other)
    records.unlink()
    records.symlink_to(records)
    assert [each["id"] for each in found.get("api/runs").json()["runs"]] == ["abcd1234", "half0001"]
    assert found.get("runs/half0001/").status_code == 404
