"""`python -m kapsoweb.jobs [THREADS]`: a worker process, by default with four threads."""

import os
import sys

import django

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kapsoweb.settings.local")
    django.setup()
    from kapsoweb.jobs import worker  # models can be imported only now

    sys.exit(worker.serve(int(sys.argv[1]) if len(sys.argv) > 1 else worker.THREADS))
