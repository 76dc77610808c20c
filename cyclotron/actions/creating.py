"""Creating a cyclotron in a database. Source: spec held-out, section 1."""

from datetime import datetime

from django.db import transaction

from cyclotron.actions.events import append_event
from cyclotron.core.configuration import Configuration, Endpoint
from cyclotron.core.definition import DEFAULT_LEARN_EVERY, CyclotronDefinition, check_learn_every
from cyclotron.models import Classifier, StoredCyclotron, Version
from cyclotron.store import Store
from kapsoweb.foundation.identifiers import new_id


def create_cyclotron(*, name: str, definition: CyclotronDefinition, now: datetime, using: str = "default") -> Store:
    """Create a cyclotron with version 1 of each classifier and return its store."""
    with transaction.atomic(using=using):
        row = StoredCyclotron.objects.using(using).create(
            id=new_id("cy"),
            name=name,
            seed=definition.seed,
            fingerprint=definition.fingerprint,
            learn_every=DEFAULT_LEARN_EVERY if definition.learn_every is None else definition.learn_every,
            created_at=now,
        )
        store = Store(using=using, cyclotron_id=row.id)
        for position, classifier in enumerate(definition.classifiers):
            configuration = Configuration.seed_of(classifier)
            stored = Classifier.objects.using(using).create(
                cyclotron=row, position=position, name=classifier.name, definition=classifier.as_json()
            )
            stored.active_version = Version.objects.using(using).create(
                classifier=stored,
                number=1,
                configuration=configuration.as_json(),
                digest=Endpoint(classifier, configuration).digest,
                created_at=now,
            )
            stored.save(using=using, update_fields=["active_version"])
        append_event(store, row, kind="created", detail={"fingerprint": row.fingerprint}, now=now)
    return store


def set_learning_interval(store: Store, learn_every: int, *, now: datetime) -> None:
    """Change after how many new training reviews learning is due; counted from the last learning step as before.

    Raises `InvalidDefinitionError` for what is no whole number from 1.
    """
    check_learn_every(learn_every)
    with store.transaction():
        locked = store.lock()
        if locked.learn_every == learn_every:
            return
        locked.learn_every = learn_every
        locked.save(using=store.using, update_fields=["learn_every"])
        append_event(store, locked, kind="learning-interval-set", detail={"learnEvery": learn_every}, now=now)
