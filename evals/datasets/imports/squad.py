"""The official files of SQuAD: questions within paragraphs within articles."""

from collections.abc import Iterator, Mapping
from typing import Any

from evals.datasets.base import Draft
from evals.errors import DatasetError


def is_squad(data: Any) -> bool:
    """Whether the value is such a file."""
    articles = data.get("data") if isinstance(data, Mapping) else None
    return isinstance(articles, list) and all(isinstance(each, Mapping) and "paragraphs" in each for each in articles)


def squad_rows(name: str, data: Mapping[str, Any], draft: Draft) -> list[tuple[str, dict[str, Any]]]:
    """The questions as rows; their paragraphs become documents of the draft, and gold of those that have an answer.

    Raises:
        DatasetError: A paragraph or question lacks what it must have.
    """
    try:
        rows = [row for article in data["data"] for row in _article_rows(article, draft)]
    except KeyError as error:
        raise DatasetError(f"{name}: not a file of SQuAD ({error} is missing)") from error
    except (TypeError, AttributeError) as error:
        raise DatasetError(f"{name}: not a file of SQuAD ({error})") from error
    return [(f"{name}, question {number}", row) for number, row in enumerate(rows, start=1)]


def _article_rows(article: Mapping[str, Any], draft: Draft) -> Iterator[dict[str, Any]]:
    title = str(article.get("title", "SQuAD")).replace("_", " ")
    for paragraph in article["paragraphs"]:
        context = paragraph["context"]
        document = draft.add_document(title, context, head=title)
        start = len(document.text) - len(context)
        gold = {"text": context, "document_id": document.id, "span": (start, len(document.text))}
        for asked in paragraph["qas"]:
            answers = [answer["text"] for answer in asked.get("answers") or []]
            yield {
                "id": asked.get("id"),
                "question": asked["question"],
                "answers": answers,
                "gold_passages": [gold] if answers else [],
                "is_unanswerable": asked.get("is_impossible"),
                "metadata": {"article": title},
            }
