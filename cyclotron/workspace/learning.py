"""The workspace's learning: a job, once a write has made it due."""

from django.conf import settings

from cyclotron.actions.learning_jobs import queue_learning
from cyclotron.workspace.access import Reaching
from cyclotron.workspace.held import HeldCyclotron
from kapsoweb.accounts.caller import Door
from kapsoweb.foundation import clock


class Learning(Reaching):
    """What follows when reviews are enough to learn from."""

    def _learn_when_due(self, held: HeldCyclotron) -> None:
        """Queue the job that learns, in the transaction of the write that made it due.

        Not where live calls are off, for learning asks the model; the next review after they are on will do it. Nor for
        a program that holds the cyclotron in its own process: it learns with its own model, when it says so.
        """
        if settings.KAPSOWEB_ALLOW_LIVE and self.caller.door is not Door.PYTHON:
            queue_learning(held.store, account_id=self.caller.account.id, now=clock.now())
