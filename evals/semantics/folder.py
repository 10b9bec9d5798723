"""The recorded name of a model that is a folder: it tells two models apart, and does not say where they are."""

from hashlib import sha256
from pathlib import Path

_SAMPLE = 65_536


def shown_name(model: str) -> str:
    """The hub id as it is; for a folder its name and a hash, such as `my-model@1f0c6a2b`.

    The hash is over names, sizes, beginnings and ends of the files: training changes it, moving does not, and it does
    not read gigabytes.
    """
    folder = Path(model)
    if not folder.is_dir():
        return model
    digest = sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        size = path.stat().st_size
        digest.update(f"{path.relative_to(folder).as_posix()}\0{size}\0".encode())
        with path.open("rb") as file:
            digest.update(file.read(_SAMPLE))
            file.seek(max(0, size - _SAMPLE))
            digest.update(file.read(_SAMPLE))
    return f"{folder.resolve().name}@{digest.hexdigest()[:8]}"
