"""The floor: aiohttp, one session, as many tasks as questions in flight; bodies are received, and not looked at."""

import asyncio

import aiohttp
from serving import payload, serve


async def ask(url: str, count: int, concurrency: int) -> None:
    """Ask so many questions."""
    left = iter(range(count))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def own() -> None:
            for number in left:
                async with session.post(f"{url}/query", json=payload(number)) as response:
                    assert response.status == 200
                    await response.read()

        await asyncio.gather(*(own() for _ in range(concurrency)))


if __name__ == "__main__":
    serve(lambda *told: asyncio.run(ask(*told)))
