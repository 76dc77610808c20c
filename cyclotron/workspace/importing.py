"""The workspace's imports: files, and decisions made elsewhere. For operators."""

from collections.abc import Sequence

from cyclotron import queries
from cyclotron.actions import file_imports
from cyclotron.actions.importing import ForeignDecision, ImportedDecisions, import_decisions
from cyclotron.core.imports import ImportColumns
from cyclotron.queries import FileImportSummary
from cyclotron.workspace.access import Reaching, require_live
from kapsoweb.accounts.roles import Role
from kapsoweb.foundation import clock


class Importing(Reaching):
    """What operators bring in."""

    def import_decisions(self, cyclotron_id: str, decisions: Sequence[ForeignDecision]) -> ImportedDecisions:
        """Record decisions made elsewhere, all or none; no model is called. See `import_decisions`."""
        with self.writing(cyclotron_id, Role.OPERATOR) as held:
            done = import_decisions(held.store, decisions, now=clock.now())
            if done.recorded:
                self.audit(held, "decisions.imported", recorded=done.recorded, known=done.known)
        return done

    def upload(
        self, cyclotron_id: str, *, filename: str, data: bytes, classifier: str | None = None
    ) -> FileImportSummary:
        """Keep a CSV file, of which nothing is brought in yet; see `receive_file`."""
        with self.writing(cyclotron_id, Role.OPERATOR) as held:
            found = file_imports.receive_file(
                held.store,
                filename=filename,
                data=data,
                created_by=self.caller.actor,
                classifier=classifier,
                now=clock.now(),
            )
            self.audit(held, "import.received", importId=found.id, rows=found.row_count)
            return queries.file_import(held.store, found.id)

    def start_import(self, cyclotron_id: str, import_id: str, *, columns: ImportColumns) -> FileImportSummary:
        """Queue the job that brings the rows in; see `start_file_import`. `LiveCallsOffError` where calls are off."""
        with self.writing(cyclotron_id, Role.OPERATOR) as held:
            held.store.lock()
            earlier = queries.file_import(held.store, import_id)
            require_live()
            found = file_imports.start_file_import(
                held.store, import_id, columns=columns, account_id=self.caller.account.id, now=clock.now()
            )
            if not earlier.job_id:
                self.audit(held, "import.started", importId=import_id, job=found.job_id)
            return queries.file_import(held.store, import_id)

    def discard_import(self, cyclotron_id: str, import_id: str) -> None:
        """Throw away a file of which nothing was brought in."""
        with self.writing(cyclotron_id, Role.OPERATOR) as held:
            if file_imports.discard_import(held.store, import_id, now=clock.now()):
                self.audit(held, "import.discarded", importId=import_id)
