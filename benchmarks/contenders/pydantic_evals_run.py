"""pydantic-evals over the same server: httpx as the task, one check an answer, nothing kept on disk."""

import asyncio

import httpx
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Contains
from serving import payload, serve


async def ask(url: str, count: int, concurrency: int) -> None:
    """Evaluate so many cases."""
    cases = [Case(name=f"q{number}", inputs=number, expected_output=None) for number in range(count)]
    dataset = Dataset(name="benchmark", cases=cases, evaluators=[Contains(value="premium")])
    limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
    async with httpx.AsyncClient(timeout=120, limits=limits) as client:

        async def task(number: int) -> str:
            response = await client.post(f"{url}/query", json=payload(number))
            return str(response.json()["answer"])

        report = await dataset.evaluate(task, max_concurrency=concurrency, progress=False)
    assert len(report.cases) == count
    assert not report.failures


if __name__ == "__main__":
    serve(lambda *told: asyncio.run(ask(*told)))
