"""Runs the steps of a composite action as GitHub's runner does, as far as our action uses it.

Steps that `use` another action are left out, but for what they were given. GitHub's programs are stand-ins that record
how they were called.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_TOKEN = re.compile(r"\s*('(?:[^']|'')*'|[\w.-]+|&&|\|\||==|!=|[(),])")

_STAND_IN = """#!{python}
import json, os, pathlib, shutil, subprocess, sys
home = pathlib.Path({home!r})
call = {{"program": {name!r}, "arguments": sys.argv[1:]}}
with open(home / "calls.jsonl", "a") as log:
    log.write(json.dumps(call) + "\\n")
"""
_GH = """
arguments = sys.argv[1:]
if arguments[:2] == ["run", "download"]:
    shutil.copytree(home / "artefact", arguments[arguments.index("--dir") + 1])
elif "--jq" in arguments:
    answer = home / ("artifacts.json" if arguments[1].endswith("/artifacts") else "comments.json")
    sys.exit(subprocess.run(["jq", "-r", arguments[arguments.index("--jq") + 1], answer]).returncode)
else:
    (body,) = [each.removeprefix("body=@") for each in arguments if each.startswith("body=@")]
    shutil.copy(body, home / "commented.md")
"""
_PYTHON = """
if sys.argv[1:4] != ["-m", "pip", "install"]:
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
evals = home / "bin" / "evals"
evals.write_text("#!/bin/sh\\nexec {python} -m evals.cli \\"$@\\"\\n")
evals.chmod(0o755)
"""


@dataclass
class Job:
    """A job of GitHub Actions in which a composite action runs.

    Attributes:
        action: Folder of the action.
        home: Folder for the files of the job.
        event: What `github.event` is, and its name under `name`.
        outputs: Of the steps, by id.
        codes: Exit codes of the steps that ran, by name.
        used: What steps that use another action were given, by the action.
    """

    action: Path
    home: Path
    event: Mapping[str, Any]
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    codes: dict[str, int] = field(default_factory=dict)
    used: dict[str, dict[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("bin", "temp", "workspace"):
            (self.home / name).mkdir(parents=True)
        for name, does in (("gh", _GH), ("python", _PYTHON)):
            program = self.home / "bin" / name
            text = _STAND_IN.format(python=sys.executable, home=str(self.home), name=name)
            program.write_text(text + (does.format(python=sys.executable) if name == "python" else does))
            program.chmod(0o755)

    def run(self, given: Mapping[str, str]) -> int:
        """Run the steps in their order; the exit code of the first that failed and may not."""
        action = yaml.safe_load((self.action / "action.yml").read_text(encoding="utf-8"))
        inputs = {name: given.get(name, each.get("default", "")) for name, each in action["inputs"].items()}
        assert set(given) <= set(inputs)
        for step in action["runs"]["steps"]:
            if not self._is_wanted(step, inputs):
                continue
            code = self._step(step, inputs)
            self.codes[step["name"]] = code
            if code and not step.get("continue-on-error"):
                return code
        return 0

    def _is_wanted(self, step: Mapping[str, Any], inputs: Mapping[str, str]) -> bool:
        return bool(self._value(step["if"], inputs)) if "if" in step else True

    def _step(self, step: Mapping[str, Any], inputs: Mapping[str, str]) -> int:
        if "uses" in step:
            self.used[step["uses"]] = {key: self._text(str(value), inputs) for key, value in step["with"].items()}
            return 0
        assert step["shell"] == "bash"
        output = self.home / "output"
        output.write_text("")
        environment = {
            **os.environ,
            "PATH": f"{self.home / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(self.action),
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(self.action),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_REPOSITORY": "owner/rag",
            "GITHUB_STEP_SUMMARY": str(self.home / "summary.md"),
            **{key: self._text(str(value), inputs) for key, value in step.get("env", {}).items()},
        }
        script = self.home / "step.sh"
        script.write_text(step["run"])  # as it stands: nothing is put into it
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
        done = subprocess.run(command, cwd=self.home / "workspace", env=environment, capture_output=True, text=True)
        with (self.home / "log.txt").open("a") as log:
            log.write(f"== {step['name']}\n{done.stdout}{done.stderr}")
        lines = (line.partition("=") for line in output.read_text().splitlines())
        self.outputs[step.get("id", "")] = {key: value for key, _, value in lines}
        return done.returncode

    def _text(self, text: str, inputs: Mapping[str, str]) -> str:
        return _EXPRESSION.sub(lambda found: str(self._value(found[1], inputs)), text)

    def _value(self, expression: str, inputs: Mapping[str, str]) -> Any:
        """The value of an expression of GitHub's language: names, texts, ==, !=, &&, || and `contains`."""
        words = {"&&": "and", "||": "or"}
        parts = []
        for token in _TOKEN.findall(expression):
            is_name = re.match(r"\w", token) and token not in {"contains", "fromJSON"}
            parts.append(f"named({token!r})" if is_name else words.get(token, token))
        known = {"named": lambda name: self._named(name, inputs), "contains": lambda all_, one: one in all_}
        return eval(" ".join(parts), {**known, "fromJSON": yaml.safe_load})  # noqa: S307 - of our own file

    def _named(self, name: str, inputs: Mapping[str, str]) -> str:
        first, *rest = name.split(".")
        if first == "inputs":
            return inputs[".".join(rest)]
        if first == "steps":
            step, _, key = rest
            return self.outputs.get(step, {}).get(key, "")
        known: Any = {
            "runner": {"temp": str(self.home / "temp")},
            "github": {"token": "a-token", "event_name": self.event["name"], "event": self.event},
        }[first]
        for key in rest:
            known = known.get(key, {})
        return str(known) if known != {} else ""
