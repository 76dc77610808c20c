"""`python -m kapsoweb.lab`: what `kapsoweb lab` does, without the command line around it."""

import sys

from kapsoweb.lab import main

sys.exit(main())
