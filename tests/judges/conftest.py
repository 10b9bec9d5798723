"""The imitation of the Messages API, for the tests of the judge."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

_package = ModuleType("messages_api")  # by path: tests are no package
_package.__path__ = [str(Path(__file__).resolve().parents[1] / "messages_api")]
sys.modules.setdefault("messages_api", _package)
_fixtures = importlib.import_module("messages_api.fixtures")

start_messages_api = _fixtures.start_messages_api
messages_api = _fixtures.messages_api
serving_messages_api = _fixtures.serving_messages_api
