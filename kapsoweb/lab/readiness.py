"""Ask the lab itself whether it can do its work."""

import http.client
import json

from kapsoweb.lab.address import HOST

_TIMEOUT_SECONDS = 5.0


def what_is_missing(port: int) -> str | None:
    """None when `/readyz` says that the lab is ready; otherwise what it says is missing, in words."""
    connection = http.client.HTTPConnection(HOST, port, timeout=_TIMEOUT_SECONDS)
    try:
        connection.request("GET", "/readyz")
        response = connection.getresponse()
        body = response.read()
    except (OSError, http.client.HTTPException) as error:
        return f"no answer on http://{HOST}:{port}/readyz ({error})"
    finally:
        connection.close()
    if response.status == http.client.OK:
        return None
    try:
        checks = json.loads(body)["checks"]
        return "; ".join(f"{name}: {check['says']}" for name, check in checks.items() if not check["ok"])
    except (ValueError, KeyError, TypeError, AttributeError):  # not the shape of /readyz: something else answers here
        return f"/readyz answered with status {response.status}"
