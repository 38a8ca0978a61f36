"""Addresses of the evidence."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpResponse
from django.urls import URLPattern, path

from runs.views import (
    compare,
    exports,
    feeds,
    groups,
    lists,
    operations,
    overview,
    places,
    records,
    reruns,
    run,
    runners,
    schemas,
    search,
    serving,
    subjects,
)


def _twin(route: str, name: str, view: Callable[..., HttpResponse]) -> list[URLPattern]:
    """A page, and its JSON at the same address with .json for the slash."""
    return [path(f"{route}/", view, name=name), path(f"{route}.json", view, {"as_json": True}, name=f"{name}-json")]


urlpatterns = [
    path("", overview.home, name="home"),
    path("search/", search.search, name="search"),
    path("search.json", search.search_json, name="search-json"),
    path("search/suggest/", search.suggestions, name="search-suggest"),
    path("sources/", overview.sources, name="sources"),
    path("methodology/", overview.methodology, name="methodology"),
    path("runs/", lists.runs, name="runs"),
    path("runs.json", lists.runs_json, name="runs-json"),
    path("runs/<uuid:run_id>/", run.page, name="run"),
    path("runs/<uuid:run_id>.json", run.page_json, name="run-json"),
    path("runs/<uuid:run_id>/manifest.json", run.manifest, name="run-manifest"),
    path("runs/<uuid:run_id>/cite.<str:form>", run.cite, name="run-cite"),
    path("runs/<str:reference>/", run.by_reference, name="run-by-reference"),
    *_twin("operations", "operations", operations.operations),
    *_twin("operations/<slug:slug>", "operation", operations.operation),
    path("operations/<slug:slug>/scaling.svg", operations.scaling_svg, name="operation-scaling"),
    *_twin("implementations", "implementations", subjects.implementations),
    *_twin("implementations/<slug:slug>", "implementation", subjects.implementation),
    *_twin("projects", "projects", subjects.projects),
    *_twin("projects/<slug:slug>", "project", subjects.project),
    *_twin("sources/<slug:slug>", "source", subjects.source),
    *_twin("hardware", "hardware-list", places.hardware_all),
    *_twin("hardware/<slug:slug>", "hardware", places.hardware),
    *_twin("environments", "environments", places.environments),
    *_twin("environments/<str:reference>", "environment", places.environment),
    *_twin("protocols", "protocols", places.protocols),
    *_twin("protocols/<str:reference>", "protocol", places.protocol),
    *_twin("records", "records", records.records),
    *_twin("records/<str:key>", "record", records.record),
    path("records/<str:key>/steps.svg", records.steps_svg, name="record-steps"),
    path("groups/<str:key>/", groups.group, name="group"),
    path("groups/<str:key>.json", groups.group, {"form": "json"}, name="group-json"),
    path("groups/<str:key>.csv", groups.group, {"form": "csv"}, name="group-csv"),
    path("groups/<str:key>/bars.svg", groups.bars_svg, name="group-bars"),
    path("compare/", compare.compare, name="compare"),
    path("compare.<str:form>", compare.compare, name="compare-as"),
    path("feeds/records.<str:form>", feeds.records, name="feed-records"),
    path("feeds/runs.<str:form>", feeds.runs, name="feed-runs"),
    path("reruns/", reruns.reruns, name="reruns"),
    path("reruns.json", reruns.reruns_json, name="reruns-json"),
    path("reruns/<uuid:rerun_id>/", reruns.rerun, name="rerun"),
    path("reruns/<uuid:rerun_id>.json", reruns.rerun_json, name="rerun-json"),
    path("reruns/<uuid:rerun_id>/job.dsse.json", reruns.job, name="rerun-job"),
    path("reruns/<uuid:rerun_id>/result.dsse.json", reruns.result, name="rerun-result"),
    path("reruns/<uuid:rerun_id>/samples.json", reruns.samples_json, name="rerun-samples"),
    path("reruns/<uuid:rerun_id>/samples.csv", reruns.samples_csv, name="rerun-samples-csv"),
    path("reruns/<uuid:rerun_id>/bundle.json", reruns.signed_bundle, name="rerun-bundle"),
    path("reruns/<uuid:rerun_id>/<slug:name>.svg", reruns.chart, name="rerun-chart"),
    path("runners/", runners.runners, name="runners"),
    path("runners/<str:name>/", runners.runner, name="runner"),
    path("runners/<str:name>/calibration.svg", runners.calibration, name="runner-calibration"),
    path("keys.json", reruns.keys, name="keys"),
    *_twin("serving", "serving", serving.runs),
    *_twin("serving/<uuid:run_id>", "serving-run", serving.run),
    *_twin("exports", "exports", exports.exports),
    path("exports/<str:name>", exports.export, name="export"),
    path("schemas/", schemas.index, name="schemas"),
    path("schemas/<str:kind>.json", schemas.schema, name="schema"),
]
