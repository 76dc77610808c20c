"""The pages of imports as somebody uses them: a client, an upload, the fields of the confirming form."""

import re
from html import unescape
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponseBase
from django.test import Client
from django.urls import reverse

from cyclotron.actions import create_cyclotron
from cyclotron.core.definition import ClassifierDefinition, CyclotronDefinition
from cyclotron.models import FileImport
from cyclotron.store import Store
from kapsoweb.accounts.models import Account
from kapsoweb.accounts.roles import Role
from tests.support.held_cyclotrons import HELD_AT, hold
from tests.support.people import member

FIELD = re.compile(r'<input type="hidden" name="([\w-]+)" value="([^"]*)"')
ROWS = [f'p{number},"study {number}, of children",{"I" if number % 3 else "E"}' for number in range(12)]
LABELLED = "\n".join(["pubmedID,title,label1", *ROWS]) + "\n"
CHOSEN = {"id": "pubmedID", "text": "title", "label": "label1", "of": "label1", "meaning-0": "include"}
WITH_REST = {**CHOSEN, "otherwise": "exclude", "review_rate": "1", "audit_rate": "0.05", "low_confidence": ""}


def labelling_cyclotron(name: str = "screening", account: Account | None = None) -> Store:
    """A cyclotron without items, of the labels include and exclude, that an account holds."""
    classifier = ClassifierDefinition("decision", ("include", "exclude"), "Is it?")
    definition = CyclotronDefinition("a seed", (classifier,), learn_every=1000)
    return hold(create_cyclotron(name=name, definition=definition, now=HELD_AT), name, account)


def visitor(role: Role = Role.OPERATOR) -> Client:
    """A signed-in member of that role in the local account."""
    client = Client()
    client.force_login(member(f"a-{role}", role))
    return client


def address(store: Store, view: str = "imports", *arguments: str) -> str:
    """Where a page of the cyclotron is; its imports unless said."""
    return reverse(f"cyclotron:{view}", args=[store.cyclotron_id, *arguments])


def send(client: Client, store: Store, text: str | bytes = LABELLED, name: str = "studies.csv", **more: str) -> Any:
    """What the upload form is answered with."""
    content = text if isinstance(text, bytes) else text.encode()
    return client.post(address(store), {"file": SimpleUploadedFile(name, content, "text/csv"), **more})


def uploaded(client: Client, store: Store, text: str = LABELLED) -> str:
    """The id of a file that was uploaded just now."""
    answer = send(client, store, text)
    assert answer.status_code == 302
    found = FileImport.objects.order_by("-id")[0]
    assert answer.headers["Location"] == address(store, "import", found.id)
    return found.id


def body_of(answer: HttpResponseBase) -> str:
    """The page as text, with its entities read."""
    return unescape(answer.getvalue().decode())


def confirming(page: HttpResponseBase) -> dict[str, list[str]]:
    """What the one primary button of a preview sends."""
    raw = page.getvalue().decode()
    form = raw[raw.index('id="start-form"') :]
    fields: dict[str, list[str]] = {}
    for name, value in FIELD.findall(form[: form.index("</form>")]):
        if name != "csrfmiddlewaretoken":
            fields.setdefault(unescape(name), []).append(unescape(value))
    return fields


def started(client: Client, store: Store, **choices: str) -> str:
    """The id of an import that was previewed with these choices and confirmed."""
    found = uploaded(client, store)
    page = client.get(address(store, "import", found), choices or WITH_REST)
    client.post(address(store, "import-start", found), confirming(page))
    return found
