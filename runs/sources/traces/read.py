"""The files of a flashinfer-bench folder: definitions, solutions, workloads and traces, each with its place."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from runs.manifests.bundle import Snapshot
from runs.manifests.canonical import object_digest, sha256
from runs.manifests.errors import ManifestError
from runs.manifests.intake import MAX_BYTES, load_document
from runs.sources.findings import Findings, SourceError
from runs.sources.traces.schema import Definition, Solution, Trace

MAX_FILES: Final = 200_000
MAX_FILE: Final = 1024**3
"""Bytes of one file of lines; a line may be 1 MiB."""

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Placed:
    """A trace and where it stands: a file with a line."""

    place: str
    trace: Trace


@dataclass(frozen=True, slots=True)
class Folder:
    """What a folder holds. Definitions and solutions by name; where two have one name, the first by path."""

    definitions: dict[str, Definition]
    solutions: dict[str, Solution]
    traces: list[Placed]
    snapshot: Snapshot


def read_folder(root: Path, *, license_: str, retrieved_at: str, findings: Findings) -> Folder:
    """Read a folder. What is no definition, solution or trace is told in `findings`.

    Raises SourceError where there is no definition, and OSError.
    """
    digests: dict[str, str] = {}
    sizes = [0]
    definitions: dict[str, Definition] = {}
    solutions: dict[str, Solution] = {}
    traces: list[Placed] = []
    for path, place in _files(root):
        part = place.partition("/")[0]
        if (part, path.suffix) in (("definitions", ".json"), ("solutions", ".json")):
            data = _bytes(path, MAX_BYTES)
            if part == "definitions":
                _keep(_parsed(Definition, data, place, findings), definitions, place, findings)
            else:
                _keep(_parsed(Solution, data, place, findings), solutions, place, findings)
        elif part in ("workloads", "traces") and path.suffix == ".jsonl":
            data = _bytes(path, MAX_FILE)
            for number, line in enumerate(data.split(b"\n"), 1):
                if line.strip():
                    found = _parsed(Trace, line, f"{place} line {number}", findings)
                    if found:
                        traces.append(Placed(f"{place} line {number}", found))
        else:
            continue
        digests[place] = sha256(data)
        sizes.append(len(data))
    if not definitions:
        raise SourceError(f"{root}: no definition was found; a folder of traces has definitions/…/NAME.json")
    snapshot = Snapshot(root.resolve().name, "", object_digest(digests), sum(sizes), license_, None, retrieved_at)
    return Folder(definitions, solutions, traces, snapshot)


def _files(root: Path) -> Iterator[tuple[Path, str]]:
    """Every plain file below a folder with its path from there, in the order of these paths. Links are not followed."""
    if not root.is_dir():
        raise SourceError(f"{root}: is no folder")
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not (Path(folder) / name).is_symlink()]
        for name in names:
            path = Path(folder) / name
            if path.is_file() and not path.is_symlink():
                found.append((path, path.relative_to(root).as_posix()))
        if len(found) > MAX_FILES:
            raise SourceError(f"{root}: has more than {MAX_FILES:,} files")
    yield from sorted(found, key=lambda each: each[1])


def _bytes(path: Path, most: int) -> bytes:
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise SourceError(f"{path}: is longer than {most:,} bytes")
    return data


def _parsed(model: type[Model], data: bytes, place: str, findings: Findings) -> Model | None:
    try:
        return model.model_validate(load_document(data))
    except ManifestError as error:
        findings.fault(place, str(error.problems[0]))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        findings.fault(place, f"{where}: {first['msg']}" if where else first["msg"])
    findings.faulty += 1
    return None


def _keep(found: Definition | Solution | None, into: dict[str, Model], place: str, findings: Findings) -> None:
    if found is None:
        return
    if found.name in into:
        findings.fault(place, f"another one is called {found.name} as well; the first by path is taken")
        findings.faulty += 1
        return
    into[found.name] = found  # type: ignore[assignment]
