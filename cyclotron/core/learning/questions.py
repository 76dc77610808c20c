"""Identities of supporting questions: the same label keeps its question in every version, so features line up."""


def leaning_id(label: str) -> str:
    """The question how far a text leans to a label; the embedded model takes its answer as evidence for that label."""
    return f"leans-to:{label}"


def alike_id(label: str) -> str:
    """The question whether a text's vocabulary is that of the label's reviews."""
    return f"speaks-like:{label}"
