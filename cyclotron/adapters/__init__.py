"""The outside world behind small protocols: decision models, embedded and over HTTP."""
