"""The plugin of pytest: fixtures, the mark, one run for all workers."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import IS_INSTALLED

from evals.testing import parametrize

PLUGIN = () if IS_INSTALLED else ("-p", "evals.pytest_plugin")
QUESTIONS = '{"id": "q1", "question": "What is covered?"}\n{"id": "q two", "question": "And what not?"}\n'


@pytest.fixture
def run_tests(pytester: pytest.Pytester, golden_server: str) -> pytest.Pytester:
    """A project with a configuration of three golden questions of a server."""
    pytester.makefile(
        ".yml",
        evaluation=f"rag_server_url: {golden_server}\ndatasets: [golden]\nsamples_per_dataset: 3\njudge: false\n",
    )
    pytester.makeini("[pytest]\neval_config = evaluation.yml\n")
    return pytester


def test_a_mark_makes_a_test_of_each_question(pytester: pytest.Pytester) -> None:
    """The file stands beside the test; a test is called by the question's id."""
    pytester.makefile(".jsonl", questions=QUESTIONS)
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.rag_questions("questions.jsonl")
        def test_each(rag_question):
            assert rag_question.question.endswith("?")
        """
    )
    result = pytester.runpytest_inprocess(*PLUGIN, "-v", "--strict-markers")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*test_each?q1? PASSED*", "*test_each?q two? PASSED*"])


@pytest.mark.parametrize(
    ("given", "arguments", "words"),
    [
        (("missing.jsonl",), ["rag_question"], r"test_it: cannot read .*missing\.jsonl"),
        (("questions.jsonl",), ["request"], "takes the argument `rag_question`"),
        ((), ["rag_question"], "write the mark with a file"),
    ],
)
def test_a_wrong_mark_is_one_clear_message(
    tmp_path: Path, given: tuple[str, ...], arguments: list[str], words: str
) -> None:
    """It names the test, and pytest shows it without a traceback."""
    definition = SimpleNamespace(nodeid="test_it", path=tmp_path / "test_x.py")
    found = SimpleNamespace(definition=definition, fixturenames=arguments, config=SimpleNamespace(rootpath=tmp_path))
    with pytest.raises(pytest.UsageError, match=words):
        parametrize(found, [pytest.mark.rag_questions(*given).mark])  # type: ignore[arg-type]


@pytest.mark.parametrize(("file", "dataset"), [("evaluation.yml", "passed"), ("missing.yml", "errors")])
def test_what_asks_a_server_is_skipped_unless_it_is_wanted(run_tests: pytest.Pytester, file: str, dataset: str) -> None:
    """A plain `pytest` never asks, and what is skipped needs no configuration."""
    run_tests.makeini(f"[pytest]\neval_config = {file}\n")
    run_tests.makepyfile(
        """
        def test_run(rag_run): ...
        def test_client(rag_client): ...
        def test_dataset(rag_dataset):
            assert len(rag_dataset) == 3
        """
    )
    run_tests.runpytest_inprocess(*PLUGIN).assert_outcomes(skipped=2, **{dataset: 1})


@pytest.mark.slow
def test_workers_share_one_run(run_tests: pytest.Pytester) -> None:
    """The server is asked once, however many workers want the run; the client asks for itself."""
    run_tests.makepyfile(
        """
        import pytest
        from evals.testing import assert_metric

        @pytest.mark.parametrize("number", range(4))
        def test_run(rag_run, number):
            assert rag_run.question_count == 2
            assert len(rag_run.records()) == 2
            assert_metric(rag_run, "latency_p50", at_most=60_000)

        def test_client(rag_client, rag_dataset):
            assert rag_client.answer(rag_dataset[0]).error is None
        """
    )
    result = run_tests.runpytest_subprocess(*PLUGIN, "-n", "2", "--run-eval", "--eval-samples", "2")
    result.assert_outcomes(passed=5)
    assert len(list((run_tests.path / "data" / "eval_runs").glob("*_*Z.json"))) == 1


def test_a_run_that_cannot_be_made_is_not_tried_again(pytester: pytest.Pytester) -> None:
    """The second worker says what the first one met."""
    pytester.makefile(".yml", wrong="rag_server_url: http://127.0.0.1:1\ndatasets: [golden]\njudge: false\n")
    pytester.makepyfile(
        """
        from types import SimpleNamespace

        import pytest
        from evals.errors import EvalsError
        from evals import testing

        def test_run(rag_config, tmp_path, monkeypatch):
            folders = SimpleNamespace(getbasetemp=lambda: tmp_path)
            monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
            with pytest.raises(EvalsError) as first:
                testing.shared_run(rag_config, folders)
            monkeypatch.setattr(testing, "run_evaluation", None)
            with pytest.raises(EvalsError) as second:
                testing.shared_run(rag_config, folders)
            assert str(first.value) == str(second.value)
        """
    )
    pytester.runpytest_inprocess(*PLUGIN, "--eval-config", "wrong.yml").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("given", "where"),
    [
        (("--eval-config", "no.yml"), "--eval-config: there is no file *below/no.yml"),
        ((), "eval_config: *[!w]/ini.yml"),
    ],
)
def test_a_missing_configuration_is_named(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...], where: str
) -> None:
    """Where it was looked for: a flag is of the folder where pytest was started, the key of that of the ini file."""
    pytester.makeini("[pytest]\neval_config = ini.yml\n")
    test = pytester.makepyfile("def test_it(rag_config): ...")
    monkeypatch.chdir(pytester.mkdir("below"))
    result = pytester.runpytest_inprocess(*PLUGIN, test, *given)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*{where}*"])


def test_loading_the_plugin_loads_nothing_else() -> None:
    """It is loaded in every project in which evals is installed: it may cost nothing."""
    code = """
import pytest, sys
before = set(sys.modules)
import evals.pytest_plugin
print(sorted(set(sys.modules) - before))
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "['evals', 'evals.pytest_plugin']"


def test_the_entry_point_is_the_plugin() -> None:
    """Pytest finds it by that."""
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.entry-points.pytest11]\nevals = "evals.pytest_plugin"' in text


def test_two_files_of_questions_are_both_asked(pytester: pytest.Pytester) -> None:
    """The nearest mark alone would leave half of the questions out."""
    pytester.makefile(".jsonl", one='{"id": "a", "question": "Why?"}', two='{"id": "b", "question": "How?"}')
    pytester.makepyfile("""
        import pytest

        @pytest.mark.rag_questions("one.jsonl")
        @pytest.mark.rag_questions("two.jsonl")
        def test_it(rag_question):
            pass

        def test_judged(rag_judge): ...
    """)
    ended = pytester.runpytest_inprocess(*PLUGIN)
    ended.assert_outcomes(passed=2, errors=1)
    ended.stdout.fnmatch_lines(["*there is no fixture rag_judge any more: use rag_run with a judge*"])
