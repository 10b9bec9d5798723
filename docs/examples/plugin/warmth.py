"""A judged metric of a plug-in: docs/own-measures.md."""

from pathlib import Path

from evals.judges.prompts import read_prompt
from evals.metrics.judge_tasks import JudgeTask, question_and_answer
from evals.metrics.judged import LabelledMetric
from evals.schemas import MetricGroup


class Warmth(LabelledMetric):
    """Share of the answers that address the reader warmly."""

    name, group = "warmth", MetricGroup.GENERATION
    inquiries = (JudgeTask("warmth", read_prompt(Path(__file__).with_name("warmth.yml")), question_and_answer),)
    scale = {"warm": 1.0, "cold": 0.0}
