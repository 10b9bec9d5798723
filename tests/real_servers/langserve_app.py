"""A LangChain chain behind LangServe: BM25 over a file of chunks; the answer is the best chunk."""

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from langchain_community.retrievers import BM25Retriever
from langchain_core.documents import Document
from langchain_core.runnables import RunnableGenerator, RunnableParallel, RunnablePassthrough
from langserve import add_routes

_CHUNKS = json.loads(Path(os.environ["CHUNKS"]).read_text(encoding="utf-8"))

PAUSE_S = 0.02
"""Between the words of an answer."""


def _words(text: str) -> list[str]:
    return "".join(sign if sign.isalnum() else " " for sign in text.casefold()).split()


_RETRIEVER = BM25Retriever.from_documents(
    [Document(id=c["id"], page_content=c["text"], metadata={"source": c["document"]}) for c in _CHUNKS],
    k=3,
    preprocess_func=_words,
)


async def _answer(found: AsyncIterator[dict[str, Any]]) -> AsyncIterator[str]:
    """The best chunk, word by word, as soon as the chunks are there."""
    known = {key: value async for part in found for key, value in part.items()}
    for word in re.findall(r"\S+\s*", known["context"][0].page_content):
        yield word
        await asyncio.sleep(PAUSE_S)


app = FastAPI()
_CHAIN = RunnableParallel(context=_RETRIEVER) | RunnablePassthrough.assign(answer=RunnableGenerator(_answer))
add_routes(app, _CHAIN.with_types(input_type=str, output_type=dict[str, Any]), path="/rag")
