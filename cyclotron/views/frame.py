"""What every page of one cyclotron begins with: its name, and the way to its other pages."""

from dataclasses import dataclass
from typing import Any

from cyclotron import queries
from cyclotron.core.wording import grouped
from cyclotron.views.parameters import address
from cyclotron.workspace import HeldCyclotron

HELD_OUT = "held-out"
ITEMS = "items"
REVIEW = "review"
IMPORT = "import"
EVENTS = "events"

_SECTIONS = (
    (HELD_OUT, "Held-out", "cyclotron:detail"),
    (ITEMS, "Items", "cyclotron:items"),
    (REVIEW, "Review", "cyclotron:review"),
    (IMPORT, "Import", "cyclotron:imports"),
    (EVENTS, "Events", "cyclotron:events"),
)


@dataclass(frozen=True)
class Section:
    """A page of the cyclotron; `current` is the value of `aria-current`, or empty; `note` stands behind the name."""

    name: str
    address: str
    current: str
    note: str = ""


def frame_of(
    held: HeldCyclotron, section: str, *, within: bool = False, classifier: str | None = None
) -> dict[str, Any]:
    """The context of `cyclotron/page.html`; `within` says that the page hangs below the section's own.

    `classifier` goes along to the other pages, for a cyclotron with several; its queue is the one that is counted.
    """
    waiting = queries.waiting_items(held.store, held.store.classifier(classifier)).count()
    sections = [
        Section(
            name,
            address(view, held.id, classifier=classifier),
            ("true" if within else "page") if key == section else "",
            note=f"{grouped(waiting)} waiting" if key == REVIEW and waiting else "",
        )
        for key, name, view in _SECTIONS
    ]
    return {"name": held.name, "cyclotron_id": held.id, "sections": sections}
