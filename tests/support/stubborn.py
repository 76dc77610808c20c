"""A module to supervise: says that it runs, then does not end when asked to."""

import signal
import sys
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
sys.stdout.write("running\n")
sys.stdout.flush()
time.sleep(3600)
