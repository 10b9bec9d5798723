"""The recall at each stage of a retrieval, as lines, or as one."""

from collections.abc import Iterator, Sequence

from evals.scoring.diagnosis import StageRecall


def stage_lines(stages: Sequence[StageRecall]) -> Iterator[tuple[str, str]]:
    """A title without a value, then a name and what is said of it for each stage; nothing where there is none."""
    if stages:
        yield "recall by stage of the retrieval", ""
    for stage in stages:
        least = f"at least, {stage.unsure} unsure: " if stage.unsure else ""
        yield stage.name, f"{least}{stage.recall:.3f} (n={stage.questions})"


def stages_in_a_line(stages: Sequence[StageRecall]) -> str | None:
    """Each stage with its recall, in their order; None where the server lists none."""
    told = (f"{stage.name} {'at least ' if stage.unsure else ''}{stage.recall:.3f}" for stage in stages)
    return f"recall by stage of the retrieval: {', '.join(told)}" if stages else None
