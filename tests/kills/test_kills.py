"""SIGKILL at random moments of a judged run: what was answered and paid for stays, and no number moves."""

import random
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from kills import counted
from kills.attack import Attack, NoJudge, check, check_answers, kill_often
from kills.counted import CountedServer, policies
from messages_api.server import MessagesApi

JUDGE: dict[str, Any] = {"then": {"python": "judge"}}


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """Ends the servers."""
    with ExitStack() as stack:
        yield stack


def prepared(folder: Path, count: int, stack: ExitStack) -> Attack:
    """A run of this many questions, with servers of its own; nothing is asked yet."""
    folder.mkdir()
    questions, judge = policies(count), MessagesApi(0.02)
    stack.callback(judge.close)
    judge.script(JUDGE)
    server = CountedServer(questions)
    stack.callback(server.stop)
    return Attack(folder, server, judge, questions)


@pytest.mark.parametrize(
    ("kills", "questions"),
    [
        pytest.param(3, 24, marks=[pytest.mark.slow, pytest.mark.timeout(300)], id="3 kills"),
        pytest.param(25, 200, marks=[pytest.mark.full, pytest.mark.timeout(1800)], id="25 kills"),
    ],
)
def test_a_run_that_is_killed_again_and_again_is_as_one_that_was_not(
    kills: int, questions: int, tmp_path: Path, stack: ExitStack
) -> None:
    """Each request is made once, and once more for each kill at which it was in flight; the scorecard is the same."""
    seed = time.time_ns() % 10**6
    print(f"seed {seed}")
    unbroken, attack = (prepared(tmp_path / name, questions, stack) for name in ("unbroken", "killed"))
    unbroken.whole()
    kill_often(attack, kills, unbroken.requests(), random.Random(seed))  # noqa: S311 - no secret
    attack.whole()
    print(f"{sum(len(leg.lost) for leg in attack.legs)} questions and {sum(leg.unpaid for leg in attack.legs)} calls")
    check(attack, unbroken)
    run = attack.run
    assert run is not None
    path = attack.store.records_path(run)
    assert {file.name for file in attack.store.folder.iterdir()} == {
        attack.store.run_path(run).name,
        path.name,
        attack.store.columns_path(run).name,
    }


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_run_that_is_killed_while_it_scores_beside_asking_is_as_one_that_was_not(
    tmp_path: Path, stack: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a judge, records behind the first 200 are scored while slow answers are waited for."""
    monkeypatch.setattr(counted, "_DELAY_S", 0.1)
    questions, attacks, rng = policies(300), [], random.Random(7)  # noqa: S311 - no secret
    for name in ("unbroken", "killed"):
        (tmp_path / name).mkdir()
        server = CountedServer(questions)
        stack.callback(server.stop)
        attacks.append(Attack(tmp_path / name, server, NoJudge(), questions))
    unbroken, attack = attacks
    unbroken.whole()
    for _ in range(3):
        attack.kill_after(max(1, 220 - attack.requests()) + rng.randint(0, 20), rng.uniform(0, 0.1))
    attack.whole()
    check_answers(attack, unbroken)
    assert not [leg for leg in attack.legs if leg.ended]
