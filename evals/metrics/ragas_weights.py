"""How much each part of ragas_score weighs, unless the configuration says otherwise."""

from collections.abc import Mapping

RAGAS_WEIGHTS: Mapping[str, float] = {
    "ragas_faithfulness": 0.30,
    "ragas_context_precision": 0.20,
    "ragas_context_recall": 0.20,
    "ragas_answer_relevance": 0.30,
}
