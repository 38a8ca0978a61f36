"""Implementations, projects and sources: who made it, and who says so."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from kernelindex.methods import read_only
from runs.reads.implementations import implementation_list, implementation_page
from runs.reads.projects import project_list, project_page
from runs.reads.sources import source_page
from runs.views.shown import Shown, described, read, show, there


def _with(path: str, **parameters: str) -> str:
    query = urlencode({name: value for name, value in parameters.items() if value})
    return f"{path}?{query}" if query else path


@read_only
def implementations(request: HttpRequest, *, as_json: bool = False) -> HttpResponse:
    """Every implementation, by name."""
    after = request.GET.get("after", "")

    def make() -> Shown:
        page = read(lambda: implementation_list(after))
        path = reverse("implementations")
        meta = described(
            "Implementations",
            "The implementations of GPU kernels that were benchmarked, each with its language, licence and revision.",
            _with(path, after=after),
            _with(reverse("implementations-json"), after=after),
        )
        next_url = _with(path, after=page.next) if page.next else None
        return Shown(page, "runs/implementations.html", meta, {"next_url": next_url})

    return show(request, ("implementations", after), make, as_json=as_json)


@read_only
def implementation(request: HttpRequest, slug: str, *, as_json: bool = False) -> HttpResponse:
    """One implementation: where it comes from and where it ranks, on every GPU or on one."""
    hardware, after = request.GET.get("hardware", "")[:200], request.GET.get("after", "")

    def make() -> Shown:
        page = there(
            read(lambda: implementation_page(slug, hardware, after)), "There is no implementation of this name."
        )
        path = reverse("implementation", args=[slug])
        gpu = next((row.hardware.name for row in page.hardware if row.hardware.slug == hardware), hardware)
        meta = described(
            " · ".join(filter(None, (page.link.name, page.operation.name, gpu))),
            f"{page.link.name} for {page.operation.name}: {page.language}, {page.license or 'licence unknown'}; "
            "where it ranks, by GPU, workload and protocol.",
            _with(path, hardware=hardware, after=after),
            _with(reverse("implementation-json", args=[slug]), hardware=hardware, after=after),
        )
        beside = {
            "hardware": hardware,
            "gpu": gpu,
            "next_url": _with(path, hardware=hardware, after=page.next) if page.next else None,
        }
        return Shown(page, "runs/implementation.html", meta, beside)

    return show(request, ("implementation", slug, hardware, after), make, as_json=as_json)


@read_only
def projects(request: HttpRequest, *, as_json: bool = False) -> HttpResponse:
    """Every software project."""
    after = request.GET.get("after", "")

    def make() -> Shown:
        page = read(lambda: project_list(after))
        path = reverse("projects")
        meta = described(
            "Projects",
            "The software projects whose GPU kernels were benchmarked.",
            _with(path, after=after),
            _with(reverse("projects-json"), after=after),
        )
        next_url = _with(path, after=page.next) if page.next else None
        return Shown(page, "runs/projects.html", meta, {"next_url": next_url})

    return show(request, ("projects", after), make, as_json=as_json)


@read_only
def project(request: HttpRequest, slug: str, *, as_json: bool = False) -> HttpResponse:
    """One project and its implementations."""
    after = request.GET.get("after", "")

    def make() -> Shown:
        page = there(read(lambda: project_page(slug, after)), "There is no project of this name.")
        path = reverse("project", args=[slug])
        meta = described(
            page.link.name,
            f"{page.link.name}: its implementations that were benchmarked, by operation.",
            _with(path, after=after),
            _with(reverse("project-json", args=[slug]), after=after),
        )
        next_url = _with(path, after=page.implementations.next) if page.implementations.next else None
        return Shown(page, "runs/project.html", meta, {"next_url": next_url})

    return show(request, ("project", slug, after), make, as_json=as_json)


@read_only
def source(request: HttpRequest, slug: str, *, as_json: bool = False) -> HttpResponse:
    """One source: what came from it, and under which terms."""

    def make() -> Shown:
        page = there(source_page(slug), "There is no source of this name.")
        meta = described(
            page.line.name,
            f"{page.runs:,} benchmark runs from {page.line.name}, {page.line.license or 'licence unknown'}, and the "
            "files that were read.",
            reverse("source", args=[slug]),
            reverse("source-json", args=[slug]),
        )
        return Shown(page, "runs/source.html", meta)

    return show(request, ("source", slug), make, as_json=as_json)
