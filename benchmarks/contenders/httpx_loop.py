"""What anybody would write with httpx: one client, as many tasks as questions in flight, bodies read as JSON."""

import asyncio

import httpx
from serving import payload, serve


async def ask(url: str, count: int, concurrency: int) -> None:
    """Ask so many questions."""
    left = iter(range(count))
    limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
    async with httpx.AsyncClient(timeout=120, limits=limits) as client:

        async def own() -> None:
            for number in left:
                response = await client.post(f"{url}/query", json=payload(number))
                assert response.json()["answer"]

        await asyncio.gather(*(own() for _ in range(concurrency)))


if __name__ == "__main__":
    serve(lambda *told: asyncio.run(ask(*told)))
