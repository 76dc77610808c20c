"""Addresses of the pages that belong to no room."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from kapsoweb.pages import job_views, views

app_name = "pages"
urlpatterns = [
    path("", views.home, name="home"),
    path("sign-in/", views.SignIn.as_view(), name="sign-in"),
    path("sign-in/<str:token>/", views.sign_in_by_link, name="sign-in-by-link"),
    path("sign-out/", LogoutView.as_view(next_page="pages:sign-in"), name="sign-out"),
    path("jobs/", job_views.jobs, name="jobs"),
    path("jobs/<slug:job_id>/", job_views.job, name="job"),
    path("jobs/<slug:job_id>/cancel/", job_views.cancel, name="job-cancel"),
    path("jobs/<slug:job_id>/retry/", job_views.retry, name="job-retry"),
]
