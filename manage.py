#!/usr/bin/env python
"""Django's own command line; settings default to the local lab."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kapsoweb.settings.local")
    execute_from_command_line(sys.argv)
