"""Words that every room writes alike."""


def sentence_case(message: str) -> str:
    """An error's message or a name as it begins on a page: with a capital."""
    return message[:1].upper() + message[1:]
