"""Addresses of accounts. Of django-allauth only what is listed here can be reached; everything else is a 404."""

from __future__ import annotations

from allauth.account import views as account
from allauth.mfa.base import views as mfa
from allauth.mfa.recovery_codes import views as recovery
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as webauthn
from allauth.socialaccount import views as social
from allauth.usersessions import views as sessions
from django.conf import settings
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.decorators.cache import never_cache
from django.views.generic import RedirectView

from attestations.accounts.views import data, feed, following, overview, person, tokens, unsubscribe

entrance: list[URLPattern | URLResolver] = [
    path("login/", never_cache(account.login), name="account_login"),
    path("logout/", never_cache(account.logout), name="account_logout"),
    path("signup/", never_cache(account.signup), name="account_signup"),
    path("inactive/", never_cache(account.account_inactive), name="account_inactive"),
    path("reauthenticate/", never_cache(account.reauthenticate), name="account_reauthenticate"),
    path("confirm-email/", never_cache(account.email_verification_sent), name="account_email_verification_sent"),
    re_path(r"^confirm-email/(?P<key>[-:\w]+)/$", never_cache(account.confirm_email), name="account_confirm_email"),
    path("password/reset/", never_cache(account.password_reset), name="account_reset_password"),
    path("password/reset/done/", never_cache(account.password_reset_done), name="account_reset_password_done"),
    re_path(
        r"^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        never_cache(account.password_reset_from_key),
        name="account_reset_password_from_key",
    ),
    path(
        "password/reset/key/done/",
        never_cache(account.password_reset_from_key_done),
        name="account_reset_password_from_key_done",
    ),
]

# Who has no password yet sets one by mail, like one who forgot it: the mailbox is what they can prove.
own: list[URLPattern | URLResolver] = [
    path("", overview.overview, name="account"),
    path("email/", never_cache(account.email), name="account_email"),
    path("password/change/", never_cache(account.password_change), name="account_change_password"),
    path("password/set/", RedirectView.as_view(pattern_name="account_reset_password"), name="account_set_password"),
    path("sessions/", never_cache(sessions.list_usersessions), name="usersessions_list"),
    path("tokens/", tokens.tokens, name="account-tokens"),
    path("tokens/<uuid:public_id>/revoke/", tokens.revoke, name="account-token-revoke"),
    path("export.json", data.export_json, name="account-export"),
    path("delete/", data.delete, name="account-delete"),
]

second_factor: list[URLPattern | URLResolver] = [
    path("", never_cache(mfa.index), name="mfa_index"),
    path("authenticate/", never_cache(mfa.authenticate), name="mfa_authenticate"),
    path("reauthenticate/", never_cache(mfa.reauthenticate), name="mfa_reauthenticate"),
    path("totp/activate/", never_cache(totp.activate_totp), name="mfa_activate_totp"),
    path("totp/deactivate/", never_cache(totp.deactivate_totp), name="mfa_deactivate_totp"),
    path("recovery-codes/", never_cache(recovery.view_recovery_codes), name="mfa_view_recovery_codes"),
    path("recovery-codes/generate/", never_cache(recovery.generate_recovery_codes), name="mfa_generate_recovery_codes"),
    path("recovery-codes/download/", never_cache(recovery.download_recovery_codes), name="mfa_download_recovery_codes"),
    path("passkeys/", never_cache(webauthn.list_webauthn), name="mfa_list_webauthn"),
    path("passkeys/add/", never_cache(webauthn.add_webauthn), name="mfa_add_webauthn"),
    path("passkeys/login/", never_cache(webauthn.login_webauthn), name="mfa_login_webauthn"),
    path("passkeys/reauthenticate/", never_cache(webauthn.reauthenticate_webauthn), name="mfa_reauthenticate_webauthn"),
    path("passkeys/<int:pk>/edit/", never_cache(webauthn.edit_webauthn), name="mfa_edit_webauthn"),
    path("passkeys/<int:pk>/remove/", never_cache(webauthn.remove_webauthn), name="mfa_remove_webauthn"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("account/", include(entrance)),
    path("account/", include(own)),
    path("account/second-factor/", include(second_factor)),
    path("people/<slug:name>/", person.person, name="person"),
    path("following/", following.following, name="following"),
    path("following/seen/", following.seen, name="following-seen"),
    path("following/digest/", following.digest, name="following-digest"),
    path("following/feed/rotate/", following.rotate_feed, name="following-feed-rotate"),
    path("following/feed/<str:token>.atom", feed.feed, name="following-feed"),
    path("follow/<str:kind>/<str:key>/", following.subject, name="follow"),
    path("unfollow/<str:kind>/<str:key>/", following.unfollow, name="unfollow"),
    path("unsubscribe/<str:token>/", unsubscribe.unsubscribe, name="unsubscribe"),
]

if settings.GITHUB_CLIENT_ID:
    urlpatterns += [
        path(
            "account/connections/",
            include(
                [
                    path("", never_cache(social.connections), name="socialaccount_connections"),
                    path("signup/", never_cache(social.signup), name="socialaccount_signup"),
                    path("cancelled/", never_cache(social.login_cancelled), name="socialaccount_login_cancelled"),
                    path("error/", never_cache(social.login_error), name="socialaccount_login_error"),
                    path("", include("allauth.socialaccount.providers.github.urls")),
                ]
            ),
        )
    ]
