from django.http import HttpRequest, HttpResponse
from django.urls import include, path

READY = b"<!doctype html><title>ready</title>" + b"x" * 15_000


def ready(request: HttpRequest) -> HttpResponse:
    return HttpResponse(READY)


urlpatterns = [path("bench/ready/", ready), path("", include("kernelindex.urls"))]
