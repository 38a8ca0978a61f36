"""The tables of accounts and notices."""

from attestations.accounts.models.cache import CacheEntry
from attestations.accounts.models.notice import Follow, Notice, NoticeSettings, OutboxCursor
from attestations.accounts.models.people import RetiredName, User
from attestations.accounts.models.tokens import ApiToken

__all__ = [
    "ApiToken",
    "CacheEntry",
    "Follow",
    "Notice",
    "NoticeSettings",
    "OutboxCursor",
    "RetiredName",
    "User",
]
