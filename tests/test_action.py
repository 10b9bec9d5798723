"""The action for GitHub and the examples of other people's pipelines: valid, free of injection, and running."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from composite_action import Job
from junit_reader import read_junit

HOME = Path(__file__).resolve().parent.parent
EXAMPLES = HOME / "docs" / "examples"
ACTION = yaml.safe_load((HOME / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]
PULL_REQUEST = {"name": "pull_request", "pull_request": {"number": 7}, "repository": {"default_branch": "main"}}
ASKED = "--no-judge\n--datasets=golden\n--samples=8\n"
MARKER = "<!-- evals: evaluation -->"


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ("github-actions", HOME / "action.yml"),
        ("github-workflows", EXAMPLES / "github-workflow.yml"),
        ("gitlab-ci", EXAMPLES / "gitlab-ci.yml"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_the_action_and_the_examples_are_valid(schema: str, path: Path) -> None:
    """By the schemas that their services publish."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", path]
    checked = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout


def test_no_input_is_put_into_a_script() -> None:
    """A pull request's title, or an input, that holds shell code would run: all reach the shell as variables."""
    scripts = [step["run"] for step in STEPS if "run" in step]
    workflow = yaml.safe_load((EXAMPLES / "github-workflow.yml").read_text(encoding="utf-8"))
    scripts += [step["run"] for step in workflow["jobs"]["evaluation"]["steps"] if "run" in step]
    assert len(scripts) > 6
    assert [script for script in scripts if "${{" in script] == []


def test_the_workflow_gives_the_action_what_it_takes() -> None:
    """A misspelt input would be left out with a warning that nobody reads."""
    workflow = yaml.safe_load((EXAMPLES / "github-workflow.yml").read_text(encoding="utf-8"))
    (step,) = (each for each in workflow["jobs"]["evaluation"]["steps"] if "args" in each.get("with", {}))
    assert set(step["with"]) <= set(ACTION["inputs"])
    assert workflow["permissions"] == {"contents": "read", "actions": "read", "pull-requests": "write"}
    page = (HOME / "docs" / "ci.md").read_text(encoding="utf-8")
    for name in [*ACTION["inputs"], *ACTION["outputs"]]:
        assert f"`{name}`" in page, name


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clean clone of what is committed."""
    if shutil.which("jq") is None:
        pytest.skip("no jq, which stands for that in gh")
    there = tmp_path / "clone"
    command = ["git", "clone", "--quiet", "--no-hardlinks", HOME, there]
    if subprocess.run(list(map(str, command)), capture_output=True).returncode:
        pytest.skip("not a git checkout")
    return there


def job(clone: Path, home: Path, *, comments: Any = (), artifacts: Any = (), event: Any = PULL_REQUEST) -> Job:
    """A job whose repository has these comments and artefacts."""
    found = Job(clone, home, event)
    (home / "comments.json").write_text(json.dumps(list(comments)))
    (home / "artifacts.json").write_text(json.dumps({"artifacts": list(artifacts)}))
    return found


def calls(one: Job) -> list[list[str]]:
    """How gh was called."""
    found = map(json.loads, (one.home / "calls.jsonl").read_text().splitlines())
    return [each["arguments"] for each in found if each["program"] == "gh"]


def artifact(run: int, branch: str = "main", head: int = 1, *, expired: bool = False) -> dict[str, Any]:
    """An artefact as GitHub's API lists it."""
    told = {"id": run, "head_branch": branch, "head_repository_id": head, "repository_id": 1}
    return {"expired": expired, "workflow_run": told}


def comment(number: int, body: str, kind: str = "Bot") -> dict[str, Any]:
    """A comment as GitHub's API lists it."""
    return {"id": number, "body": body, "user": {"type": kind}}


@pytest.mark.slow
def test_the_steps_of_the_action_run_from_a_clean_clone(clone: Path, golden_server: str, tmp_path: Path) -> None:
    """First without a baseline, then with that of the default branch and a gate that fails, then with a dead server."""
    first = job(
        clone, tmp_path / "first", artifacts=[artifact(5, head=2), artifact(6, "topic"), artifact(7, expired=True)]
    )
    injected = tmp_path / "injected"
    asked = f"{ASKED}--rag-url={golden_server}\n"
    args = f'{asked}--gate=recall_at_5>=0.1\n--name=$(touch {injected}) `touch {injected}` "; touch {injected}\n'
    assert first.run({"args": args, "extras": "excel"}) == 0, (first.home / "log.txt").read_text()
    assert not injected.exists()
    assert set(first.codes.values()) == {0}
    kept = Path(first.used["actions/upload-artifact@v7"]["path"])
    assert sorted(path.name for path in kept.iterdir()) == ["comment.md", "junit.xml", "report.html", "runs"]
    *listed, posted = calls(first)
    assert [arguments[1] for arguments in listed] == [
        "repos/owner/rag/actions/artifacts",
        "repos/owner/rag/issues/7/comments",
    ]
    assert posted[:4] == ["api", "repos/owner/rag/issues/7/comments", "--method", "POST"]
    body = (first.home / "commented.md").read_text()
    assert body.startswith(f"{MARKER}\n### Evaluation: ")
    assert "common questions" not in body
    assert r"| recall_at_5\>=0.1 | met |" in body
    assert read_junit((kept / "junit.xml").read_bytes())["gates.retrieval", "recall_at_5>=0.1"][0] == "passed"
    assert ": 1 of 1 met**" in (first.home / "summary.md").read_text()

    there = [comment(1, f"{MARKER} of a person", "User"), comment(2, "other"), comment(3, f"{MARKER}\nold")]
    second = job(clone, tmp_path / "second", comments=there, artifacts=[artifact(8, "topic"), artifact(9), artifact(4)])
    shutil.copytree(kept, second.home / "artefact")
    held = {"args": asked + "--gate=mrr>=1\n", "gate-args": "--metrics=recall_at_5\n--margin=0.5\n"}
    assert second.run(held) == 1, (second.home / "log.txt").read_text()
    _, downloaded, _, patched = calls(second)
    assert downloaded[:3] == ["run", "download", "9"]
    assert patched[:4] == ["api", "repos/owner/rag/issues/comments/3", "--method", "PATCH"]
    body = (second.home / "commented.md").read_text()
    assert "common questions" in body
    assert r"| mrr\>=1 | not met |" in body
    assert second.outputs["end"] == {"exit-code": "1"}

    third = job(clone, tmp_path / "third")
    assert third.run({"args": "--rag-url=http://127.0.0.1:1\n--datasets=golden\n--no-judge\n"}) == 3
    assert "no RAG server answers" in (third.home / "commented.md").read_text()
    assert "Check the gates and compare with the baseline" not in third.codes
    (case,) = read_junit((third.home / "temp" / "evals" / "junit.xml").read_bytes()).values()
    assert case[:2] == ("error", "ServerUnreachableError")


@pytest.mark.slow
def test_a_job_may_pass_over_a_gate_and_needs_no_pull_request(clone: Path, golden_server: str, tmp_path: Path) -> None:
    """On the default branch nobody is commented to; with fail-on-gate: false a gate that is not met is told alone."""
    pushed = {"name": "push", "repository": {"default_branch": "main"}}
    one = job(clone, tmp_path / "job", event=pushed)
    assert one.run({"args": f"{ASKED}--rag-url={golden_server}\n--gate=mrr>=1\n", "fail-on-gate": "false"}) == 0, (
        one.home / "log.txt"
    ).read_text()
    assert len(calls(one)) == 1
    assert r"| mrr\>=1 | not met |" in (one.home / "temp" / "evals" / "comment.md").read_text()


@pytest.mark.slow
def test_the_script_of_the_gitlab_example_runs_from_a_clean_clone(
    clone: Path, golden_server: str, tmp_path: Path
) -> None:
    """Line by line, with stand-ins for curl and pip: without a baseline, then with one."""
    one = job(clone, tmp_path / "job")
    example = yaml.safe_load((EXAMPLES / "gitlab-ci.yml").read_text(encoding="utf-8"))["evaluation"]
    home, workspace = one.home, one.home / "workspace"
    (workspace / "eval_config.yml").write_text("datasets: [golden]\nsamples_per_dataset: 8\n")
    curl = home / "bin" / "curl"
    curl.write_text(f"#!/bin/sh\ntest -f {home}/artifacts.zip && cp {home}/artifacts.zip baseline.zip\n")
    curl.chmod(0o755)
    environment = {"PATH": f"{home / 'bin'}:/usr/bin:/bin", "PYTHONPATH": str(clone), "HOME": str(home)}
    environment |= {
        "EVALS": "evals",
        "RAG_SERVER_URL": golden_server,
        "CI_DEFAULT_BRANCH": "main",
        "CI_PROJECT_ID": "1",
        "CI_API_V4_URL": "http://x",
    }
    script = "\n".join(example["script"])

    def run() -> subprocess.CompletedProcess[str]:
        command = ["bash", "-eo", "pipefail", "-c", script]
        return subprocess.run(command, cwd=workspace, env=environment, capture_output=True, text=True)

    done = run()
    assert done.returncode == 0, done.stderr
    assert "no baseline yet" in done.stdout
    shutil.make_archive(str(home / "artifacts"), "zip", workspace, "evaluation")
    shutil.rmtree(workspace / "evaluation")
    done = run()
    assert done.returncode == 0, done.stderr
    assert "recall_at_5 at most 0.05 below" in done.stdout
    junit = example["artifacts"]["reports"]["junit"]
    assert any(name.startswith("recall_at_5 at most") for _, name in read_junit((workspace / junit).read_bytes()))
