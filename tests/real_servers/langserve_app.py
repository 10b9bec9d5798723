"""A LangChain chain behind LangServe: BM25 over a file of chunks; the answer is the best chunk."""

import json
import os
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from langchain_community.retrievers import BM25Retriever
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langserve import add_routes

_CHUNKS = json.loads(Path(os.environ["CHUNKS"]).read_text(encoding="utf-8"))


def _words(text: str) -> list[str]:
    return "".join(sign if sign.isalnum() else " " for sign in text.casefold()).split()


_RETRIEVER = BM25Retriever.from_documents(
    [Document(id=c["id"], page_content=c["text"], metadata={"source": c["document"]}) for c in _CHUNKS],
    k=3,
    preprocess_func=_words,
)


def _answer(question: str) -> dict[str, Any]:
    context = _RETRIEVER.invoke(question)
    return {"context": context, "answer": context[0].page_content}


app = FastAPI()
add_routes(app, RunnableLambda(_answer).with_types(input_type=str), path="/rag")
