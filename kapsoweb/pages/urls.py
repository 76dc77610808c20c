"""Addresses of the pages that belong to no room."""

from django.urls import path

from kapsoweb.pages import job_views, views
from kapsoweb.pages.account import audit, invitations, members, overview, tokens

app_name = "pages"
urlpatterns = [
    path("", views.home, name="home"),
    path("sign-in/", views.SignIn.as_view(), name="sign-in"),
    path("sign-in/<str:token>/", views.sign_in_by_link, name="sign-in-by-link"),
    path("sign-out/", views.SignOut.as_view(), name="sign-out"),
    path("account/", overview.account, name="account"),
    path("account/switch/", overview.switch, name="account-switch"),
    path("account/new/", overview.create, name="account-create"),
    path("account/name/", overview.rename, name="account-rename"),
    path("account/password/", overview.ChangePassword.as_view(), name="password"),
    path("account/members/", members.members, name="members"),
    path("account/members/<int:member_id>/role/", members.change_role, name="member-role"),
    path("account/members/<int:member_id>/remove/", members.remove, name="member-remove"),
    path("account/invitations/<slug:invitation_id>/revoke/", members.revoke, name="invitation-revoke"),
    path("account/tokens/", tokens.tokens, name="tokens"),
    path("account/tokens/<slug:token_id>/revoke/", tokens.revoke, name="token-revoke"),
    path("account/audit/", audit.audit, name="audit"),
    path("invitations/<str:secret>/", invitations.invitation, name="invitation"),
    path("jobs/", job_views.jobs, name="jobs"),
    path("jobs/<slug:job_id>/", job_views.job, name="job"),
    path("jobs/<slug:job_id>/cancel/", job_views.cancel, name="job-cancel"),
    path("jobs/<slug:job_id>/retry/", job_views.retry, name="job-retry"),
]
