"""How many may be in at a time, where that changes."""

import asyncio

from evals.run.workers import Room


async def _settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_a_room_that_grows_and_shrinks_holds_no_more_than_its_size() -> None:
    """Whoever waits comes in as soon as there is room, in the order of coming."""

    async def scenario() -> None:
        room, inside, ended = Room(), [], [asyncio.Event() for _ in range(6)]

        async def visit(number: int) -> None:
            async with room:
                inside.append(number)
                await ended[number].wait()
            inside.remove(number)

        visits = [asyncio.create_task(visit(number)) for number in range(6)]
        await _settle()
        assert inside == [0]
        room.resize(3)
        await _settle()
        assert inside == [0, 1, 2]
        room.resize(1)
        for number in (0, 1):
            ended[number].set()
        await _settle()
        assert inside == [2]
        visits[3].cancel()
        ended[2].set()
        await _settle()
        assert inside == [4]
        for event in ended:
            event.set()
        await asyncio.gather(*visits, return_exceptions=True)
        assert inside == []

    asyncio.run(scenario())
