"""The REST door: bearer tokens, strict requests, one error shape, cursor pages, and requests that may be sent twice."""
