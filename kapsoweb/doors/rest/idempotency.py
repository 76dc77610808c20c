"""Requests that may be sent twice: one effect for each key that its sender chose, and the first answer again.

The key is taken in a transaction of its own, so that a rival sees it. The effect and the answer to keep are then
written in one transaction (except where a model is called, for no transaction may be open during a call): a crash
leaves both or neither, and whoever takes the key over later starts from what is true.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from rest_framework.response import Response

from kapsoweb.accounts.caller import Caller, noting_roles
from kapsoweb.accounts.roles import Role, greatest
from kapsoweb.doors.errors import RequestRefusedError
from kapsoweb.doors.limits import (
    IDEMPOTENCY_ABANDONED_AFTER,
    IDEMPOTENCY_ANSWER_BYTES,
    IDEMPOTENCY_KEPT_FOR,
    IDEMPOTENCY_KEY_CHARACTERS,
)
from kapsoweb.doors.models import KeyedRequest, RequestState
from kapsoweb.foundation import clock
from kapsoweb.foundation.errors import KapsoError, Kind

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
KEY_PATTERN = rf"[\x21-\x7e]{{1,{IDEMPOTENCY_KEY_CHARACTERS}}}"
_FORGOTTEN_AT_ONCE = 200


class InvalidIdempotencyKeyError(RequestRefusedError):
    """The header holds something else than 1 to 255 visible ASCII characters."""

    id = "invalid-idempotency-key"


class IdempotencyKeyReusedError(KapsoError):
    """The key belongs to a request with another method, address or content."""

    id = "idempotency-key-reused"
    kind = Kind.CONFLICT


class IdempotencyInProgressError(KapsoError):
    """The first request of the key has not come to its end."""

    id = "idempotency-in-progress"
    kind = Kind.CONFLICT


class IdempotencyAnswerNotKeptError(KapsoError):
    """The request was carried out, and its answer is one that the lab does not keep."""

    id = "idempotency-answer-not-kept"
    kind = Kind.CONFLICT


@dataclass(frozen=True)
class _Taken:
    """A key that is this request's to use, under the fence that proves it."""

    row_id: int
    fence: int

    def rows(self) -> "QuerySet[KeyedRequest]":
        return KeyedRequest.objects.filter(pk=self.row_id, fence=self.fence, state=RequestState.RUNNING)


def once(
    caller: Caller,
    key: str,
    *,
    digest: str,
    work: Callable[[], Response],
    keeps_answer: bool = True,
    in_one_transaction: bool = True,
) -> Response:
    """The answer of `work`, or the one that a request of the same key and `digest` was given before.

    Refusals and faults are not kept: the same request may be sent again. `keeps_answer` is False where an answer holds
    a secret. Raises this module's errors, and `NotAllowedError` where the caller has lost the role that the first
    request took.
    """
    if not re.fullmatch(KEY_PATTERN, key):
        raise InvalidIdempotencyKeyError(
            f"{HEADER} must be 1 to {IDEMPOTENCY_KEY_CHARACTERS} visible ASCII characters. Nothing was changed."
        )
    taken = _take(caller, key, digest, clock.now())
    if isinstance(taken, KeyedRequest):
        if taken.needs:
            caller.require(Role(taken.needs))
        if taken.state == RequestState.NOT_KEPT:
            raise IdempotencyAnswerNotKeptError(
                "this request was carried out before, and its answer is not kept; look at what there is now. "
                "Nothing was changed.",
                status=taken.status,
            )
        answer = json.loads(taken.answer) if taken.answer else None
        return Response(answer, status=taken.status, headers={REPLAYED: "true"})
    with _freed_on_refusal(taken), transaction.atomic() if in_one_transaction else nullcontext():
        with noting_roles() as roles:
            response = work()
        _keep(taken, response, needs=greatest(roles), keeps_answer=keeps_answer)
    return response


def _take(caller: Caller, key: str, digest: str, now: datetime) -> _Taken | KeyedRequest:
    """The key for this request, or the finished request whose answer is to be given again, if it was kept."""
    sender = f"token:{caller.token_id}" if caller.token_id else f"user:{caller.user_id}"
    name = {"account": caller.account, "sender": sender, "key": key}
    _forget_old(now, name)
    for _ in range(3):  # a rival may take the key, or free it, between two of these steps
        try:
            with transaction.atomic():
                made = KeyedRequest.objects.create(**name, digest=digest, created_at=now)
        except IntegrityError:
            known = KeyedRequest.objects.filter(**name).first()
            if known is None:
                continue
            if known.digest != digest:
                raise IdempotencyKeyReusedError(
                    f"this {HEADER} belongs to another request; use a new one. Nothing was changed."
                ) from None
            if known.state in (RequestState.DONE, RequestState.NOT_KEPT):
                return known
            if known.created_at <= now - IDEMPOTENCY_ABANDONED_AFTER and _take_over(known, now):
                return _Taken(known.pk, known.fence + 1)
            break
        return _Taken(made.pk, made.fence)
    raise IdempotencyInProgressError(f"the first request with this {HEADER} is under way; ask again in a moment.")


def _take_over(known: KeyedRequest, now: datetime) -> bool:
    rows = _Taken(known.pk, known.fence).rows()
    return bool(rows.update(fence=F("fence") + 1, created_at=now))


def _forget_old(now: datetime, name: dict[str, Any]) -> None:
    """Drop what is older than a day: some of it on each request, and this key's for certain."""
    old = KeyedRequest.objects.filter(created_at__lte=now - IDEMPOTENCY_KEPT_FOR)
    old.filter(**name).delete()
    some = old.order_by("created_at").values_list("pk", flat=True)[:_FORGOTTEN_AT_ONCE]
    KeyedRequest.objects.filter(pk__in=list(some)).delete()


def _keep(taken: _Taken, response: Response, *, needs: Role | None, keeps_answer: bool) -> None:
    text = "" if response.data is None else _as_text(response.data)
    ended = {"status": response.status_code, "needs": needs or ""}
    if keeps_answer and len(text) <= IDEMPOTENCY_ANSWER_BYTES:
        kept = taken.rows().update(state=RequestState.DONE, answer=text, **ended)
    else:
        kept = taken.rows().update(state=RequestState.NOT_KEPT, **ended)
    if not kept:  # it took so long that another took the key over; in one transaction, this undoes the effect
        raise IdempotencyInProgressError(f"another request took this {HEADER} over; ask again in a moment.")


def _as_text(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


@contextmanager
def _freed_on_refusal(taken: _Taken) -> Iterator[None]:
    try:
        yield
    except BaseException:
        taken.rows().delete()
        raise
