"""Every metric of the suites' definitions, and those that the suites add, can be asked for by its name."""

import io
from contextlib import redirect_stdout

import pytest

from evals.cli.commands.catalogue import list_metrics
from evals.metrics.registry import parse_metric

TABLE: dict[str, dict[str, tuple[str, str]]] = {
    "legal passage retrieval": {
        "Exact Match (EM)": ("passage_exact_match", "PassageExactMatch"),
        "Span F1": ("span_f1", "SpanF1"),
        "Recall@K": ("passage_recall_at_10", "PassageRecallAtK"),
        "nDCG@K": ("passage_ndcg_at_10", "PassageNDCGAtK"),
    },
    "answers against expected outputs": {
        "Exact Match": ("exact_match", "ExactMatch"),
        "Keyword Coverage": ("keyword_coverage", "KeywordCoverage"),
        "Number Match": ("number_match", "NumberMatch"),
        "Answer Completeness": ("answer_completeness", "AnswerCompleteness"),
        "Source Citation Quality": ("source_citation_quality", "SourceCitationQuality"),
        "EF_1: rules_coverage": ("rules_coverage", "RulesCoverage"),
        "EF_2: fact_score": ("fact_score", "FactScore"),
        "EF_3: is_correct": ("is_correct", "IsCorrect"),
        "RAGAS Faithfulness": ("faithfulness", "Faithfulness"),
        "RAGAS Answer Relevancy": ("answer_relevancy", "AnswerRelevancy"),
        "RAGAS Context Precision": ("context_precision", "ContextPrecision"),
        "RAGAS Context Recall": ("context_recall", "ContextRecall"),
    },
    "question answering": {
        "adapted NDCG": ("adapted_ndcg", "AdaptedNDCG"),
        "modified Precision": ("modified_precision", "ModifiedPrecision"),
        "Fuzzy Match": ("fuzzy_match", "FuzzyMatch"),
        "GPTScore": ("gptscore", "GPTScore"),
        "f(Answer)": ("factual_match", "FactualMatch"),
        "minimum of the maximum BERTScores": ("sentence_coverage", "SentenceCoverage"),
    },
    "GraphRAG": {
        "1. RAGAS Faithfulness": ("ragas_faithfulness", "RagasFaithfulness"),
        "2. RAGAS Context Precision": ("ragas_context_precision", "RagasContextPrecision"),
        "2. Precision@K (when order matters)": ("ragas_context_precision_ordered", "RagasContextPrecisionOrdered"),
        "3. RAGAS Context Recall": ("ragas_context_recall", "RagasContextRecall"),
        "4. RAGAS Answer Relevance": ("ragas_answer_relevance", "RagasAnswerRelevance"),
        "5. RAGAS Composite Score": ("ragas_score", "RagasScore"),
        "6. Factual Accuracy Percentage": ("factual_accuracy_percentage", "FactualAccuracyPercentage"),
        "7. Semantic Similarity Percentage": ("semantic_similarity_percentage", "SemanticSimilarityPercentage"),
        "8. BERTScore F1": ("bert_score_f1", "BertScoreF1"),
        "9. Correct Answers Count": ("correct_answers_count", "CorrectAnswersCount"),
        "10. Wrong Answers Count": ("wrong_answers_count", "WrongAnswersCount"),
        "11. Don't Know Answers Count": ("dont_know_answers_count", "DontKnowAnswersCount"),
    },
    "SQuAD v2": {
        "exact": ("squad_em", "SquadEM"),
        "f1": ("squad_f1", "SquadF1"),
    },
    "RAGChecker": {
        "claim recall": ("claim_recall", "ClaimRecall"),
        "overall F1": ("claim_f1", "ClaimF1"),
        "claim precision": ("claim_precision", "ClaimPrecision"),
        "context utilization": ("context_utilization", "ContextUtilization"),
        "hallucination": ("hallucination", "Hallucination"),
    },
    "ALCE": {
        "citation precision": ("citation_support_precision", "CitationSupportPrecision"),
        "citation recall": ("citation_support_recall", "CitationSupportRecall"),
        "over-citation": ("over_citation_rate", "OverCitationRate"),
    },
}
"""By definition and by what the definition calls it: the metric's name here, and its class."""

ROWS = [
    pytest.param(name, cls, id=f"{definition}: {title}")
    for definition, metrics in TABLE.items()
    for title, (name, cls) in metrics.items()
]


@pytest.fixture(scope="module")
def listed() -> set[str]:
    """The first word of each line that `evals metrics` prints."""
    out = io.StringIO()
    with redirect_stdout(out):
        list_metrics("all")
    return {line.split()[0] for line in out.getvalue().splitlines() if line.strip()}


@pytest.mark.parametrize(("name", "cls"), ROWS)
def test_a_metric_of_a_definition_can_be_asked_for_and_is_listed(name: str, cls: str, listed: set[str]) -> None:
    """The name gives an instance of the class, and the catalogue has a line for it."""
    metric = parse_metric(name)
    assert type(metric).__name__ == cls
    assert metric.name == name
    assert metric.pattern() in listed
