"""Addresses of the evidence."""

from django.urls import path

from runs.views import lists, overview, run, schemas

urlpatterns = [
    path("", overview.home, name="home"),
    path("find/", lists.find, name="find"),
    path("sources/", overview.sources, name="sources"),
    path("methodology/", overview.methodology, name="methodology"),
    path("runs/", lists.runs, name="runs"),
    path("runs.json", lists.runs_json, name="runs-json"),
    path("runs/<uuid:run_id>/", run.page, name="run"),
    path("runs/<uuid:run_id>.json", run.page_json, name="run-json"),
    path("runs/<uuid:run_id>/manifest.json", run.manifest, name="run-manifest"),
    path("runs/<uuid:run_id>/cite.<str:form>", run.cite, name="run-cite"),
    path("runs/<str:reference>/", run.by_reference, name="run-by-reference"),
    path("schemas/", schemas.index, name="schemas"),
    path("schemas/<str:kind>.json", schemas.schema, name="schema"),
]
