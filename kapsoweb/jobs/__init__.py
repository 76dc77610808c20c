"""The job table (the queue of record): claim, lease, heartbeat, sweep, progress and cancel. Knows no job's content."""
