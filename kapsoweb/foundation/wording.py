"""Words that every room writes alike."""

import re


def sentence_case(message: str) -> str:
    """An error's message or a name as it begins on a page: with a capital."""
    return message[:1].upper() + message[1:]


def camel_case(name: str) -> str:
    """`learn_every` as `learnEvery`."""
    return re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), name)
