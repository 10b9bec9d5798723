"""Settings of one reference server."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that changes how a server chunks, retrieves, guards or misbehaves."""

    chunk_words: int = 180
    top_k: int = 10
    max_upload_mb: int = 25
    auth_token: str | None = None
    misbehave: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()
    """Names under which the server may be asked, beside those of this machine itself."""

    def __post_init__(self) -> None:
        """Refuse sizes that could not work."""
        for name in ("chunk_words", "top_k", "max_upload_mb"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")

    @property
    def max_upload_bytes(self) -> int:
        """The largest accepted file, in bytes."""
        return self.max_upload_mb * 1024 * 1024
