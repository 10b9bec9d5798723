"""A Haystack pipeline for Hayhooks: BM25 over a file of chunks; the answer is the best chunk, with a marker.

It chats as well, word by word.
"""

import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hayhooks import BasePipelineWrapper
from haystack import Document
from haystack.components.builders import AnswerBuilder
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

PAUSE_S = 0.02
"""Between the words of an answer that is streamed."""


class PipelineWrapper(BasePipelineWrapper):
    """What Hayhooks serves under the name of this folder."""

    def setup(self) -> None:
        """Read the chunks."""
        chunks = json.loads(Path(os.environ["CHUNKS"]).read_text(encoding="utf-8"))
        store = InMemoryDocumentStore()
        store.write_documents(
            [Document(id=chunk["id"], content=chunk["text"], meta={"file_path": chunk["document"]}) for chunk in chunks]
        )
        self._retriever = InMemoryBM25Retriever(document_store=store, top_k=3)
        self._answers = AnswerBuilder(reference_pattern=r"\[(\d+)\]", return_only_referenced_documents=False)

    def run_api(self, query: str) -> dict[str, Any]:
        """Answer a question."""
        found = self._retriever.run(query=query)["documents"]
        reply = f"{found[0].content} [1]"
        built = self._answers.run(query=query, replies=[reply], documents=found)
        return built["answers"][0].to_dict()

    def run_chat_completion(self, model: str, messages: list[dict[str, Any]], body: dict[str, Any]) -> Iterator[str]:
        """Answer the last message, word by word."""
        for word in re.findall(r"\S+\s*", self.run_api(messages[-1]["content"])["data"]):
            yield word
            time.sleep(PAUSE_S)
