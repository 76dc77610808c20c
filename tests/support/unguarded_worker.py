"""`python -m tests.support.unguarded_worker THREADS`: a worker that takes no permits, to show that others do."""

import os
import sys

import django

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.support.worker_settings")
    django.setup()
    from kapsoweb.jobs import worker
    from tests.support.faulty_worker import removals

    removals()["permit"]()
    sys.exit(worker.serve(int(sys.argv[1])))
