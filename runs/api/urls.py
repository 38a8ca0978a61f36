"""Addresses of the API."""

from django.urls import path, re_path

from runs.api.views import about, finding, groups, places, records, reruns, runs, subjects

urlpatterns = [
    path("openapi.json", about.openapi, name="api-openapi"),
    path("reference", about.reference_page, name="api-reference"),
    path("runs", runs.RunList.as_view(), name="api-runs"),
    path("runs/<str:reference>", runs.RunOne.as_view(), name="api-run"),
    path("groups", groups.GroupList.as_view(), name="api-groups"),
    path("groups/<str:key>", groups.GroupOne.as_view(), name="api-group"),
    path("operations", subjects.OperationAll.as_view(), name="api-operations"),
    path("operations/<str:slug>", subjects.OperationOne.as_view(), name="api-operation"),
    path("implementations", subjects.ImplementationAll.as_view(), name="api-implementations"),
    path("implementations/<str:slug>", subjects.ImplementationOne.as_view(), name="api-implementation"),
    path("projects", subjects.ProjectAll.as_view(), name="api-projects"),
    path("projects/<str:slug>", subjects.ProjectOne.as_view(), name="api-project"),
    path("hardware", places.HardwareAll.as_view(), name="api-hardware-list"),
    path("hardware/<str:slug>", places.HardwareOne.as_view(), name="api-hardware"),
    path("environments", places.EnvironmentAll.as_view(), name="api-environments"),
    path("environments/<str:reference>", places.EnvironmentOne.as_view(), name="api-environment"),
    path("protocols", places.ProtocolAll.as_view(), name="api-protocols"),
    path("protocols/<str:reference>", places.ProtocolOne.as_view(), name="api-protocol"),
    path("sources", subjects.SourceAll.as_view(), name="api-sources"),
    path("sources/<str:slug>", subjects.SourceOne.as_view(), name="api-source"),
    path("records", records.RecordAll.as_view(), name="api-records"),
    path("records/<str:key>", records.RecordOne.as_view(), name="api-record"),
    path("reruns", reruns.RerunAll.as_view(), name="api-reruns"),
    path("reruns/<str:id>", reruns.RerunOne.as_view(), name="api-rerun"),
    path("runners", reruns.RunnerAll.as_view(), name="api-runners"),
    path("runners/<str:name>", reruns.RunnerOne.as_view(), name="api-runner"),
    path("search", finding.Search.as_view(), name="api-search"),
    path("compare", finding.Compare.as_view(), name="api-compare"),
    path("resolve", finding.Resolve.as_view(), name="api-resolve"),
    re_path(r"^.*$", about.Nothing.as_view()),
]
