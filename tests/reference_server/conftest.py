"""Servers for the tests: in a thread of this process, or as a process of their own."""

import json
import os
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from evals.reference_server.app import create_app
from evals.reference_server.documents import read_document
from evals.reference_server.server import ReferenceServer, bind
from evals.reference_server.settings import Settings

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # spares each client the loading of certificates
ROOT = Path(__file__).resolve().parents[2]

ATLAS = b"""# Atlas Backup Guide

Atlas copies folders to a vault every night.

## Retention

Daily snapshots are kept for 30 days. Weekly snapshots are kept for twelve weeks.

## Supported formats

Atlas reads these formats:

- PDF files
- Word documents
- Plain text

## Plans

| Plan | Maximum size |
|------|--------------|
| Free | 5 GB |
| Pro  | 500 GB |
"""
BOREAS = b"""# Boreas Wind Station

The Boreas station measures wind speed with two sensors. Its vault of old readings is small.

## Calibration

The drift factor of a sensor is 0.305 after one year.
"""


@pytest.fixture
def corpus() -> dict[str, bytes]:
    """Two small documents by file name."""
    return {"atlas-guide.md": ATLAS, "boreas.md": BOREAS, "notes.txt": b"Lunch is served at noon."}


@pytest.fixture(scope="session")
def ending() -> Iterator[list[threading.Thread]]:
    """Servers that were told to stop; no test waits for that, but in the end all must be gone."""
    threads: list[threading.Thread] = []
    yield threads
    for thread in threads:
        thread.join(timeout=5)
        assert not thread.is_alive(), "a server did not stop"


@pytest.fixture
def serve(corpus: dict[str, bytes], ending: list[threading.Thread]) -> Iterator[Callable[..., httpx.Client]]:
    """Start servers in threads; each call gives a client of a new one."""
    stops: list[Callable[[], None]] = []

    def start(*misbehave: str, files: dict[str, bytes] | None = None, settings: Settings | None = None) -> httpx.Client:
        settings = settings or Settings()
        contents = corpus if files is None else files
        documents = [read_document(data, name, settings.chunk_words) for name, data in contents.items()]
        app = create_app(settings, documents=documents, misbehave=misbehave)
        listener, listening = bind("127.0.0.1", 0), threading.Event()
        server = ReferenceServer(app, listening.set)
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        client = httpx.Client(base_url=url, timeout=10, verify=NO_TLS)

        def stop() -> None:
            client.close()
            server.should_exit = True
            ending.append(thread)

        stops.append(stop)
        assert listening.wait(5)
        return client

    yield start
    for stop in stops:
        stop()


@pytest.fixture
def spawn() -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """Start server processes; whatever is left of them is killed afterwards."""
    processes: list[subprocess.Popen[str]] = []

    def start(*args: str, **env: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "evals.reference_server", *args]
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            command, cwd=ROOT, env=os.environ | env, stdin=pipe, stdout=pipe, stderr=pipe, text=True
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture
def base_url() -> Callable[["subprocess.Popen[str]"], str]:
    """Read the line in which a server process says where it listens."""

    def read(process: "subprocess.Popen[str]") -> str:
        assert process.stdout is not None
        event = json.loads(process.stdout.readline())
        assert event["event"] == "listening"
        return f"http://{event['host']}:{event['port']}"

    return read


@pytest.fixture
def upload() -> Callable[[httpx.Client, dict[str, bytes]], dict[str, dict[str, object]]]:
    """Upload files as one batch, wait until it is done and return its tasks by file name."""

    def send(client: httpx.Client, files: dict[str, bytes]) -> dict[str, dict[str, object]]:
        parts = [("files", (name, data)) for name, data in files.items()]
        answer = client.post("/upload", files=parts)
        assert answer.status_code == 200, answer.text
        for _ in range(500):
            tasks = client.get(f"/tasks/{answer.json()['batch_id']}/status").json()["tasks"]
            if all(task["status"] in ("completed", "error") for task in tasks.values()):
                return {task["filename"]: task for task in tasks.values()}
            time.sleep(0.01)
        raise AssertionError("the batch was not done in time")

    return send
