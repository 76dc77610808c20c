"""Every field that a GraphQL request can begin with, and every field of a cyclotron, as a query that asks for it.

Written out, so that what a client would write is what is tried.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.graphql import GraphQL

OUTPUTS = "outputs{classifier label confidence probabilities{label share} version refit fingerprint}"
DECISION = f"decisionId itemKey itemId sent reason propensity decidedAt foreign {OUTPUTS}"
REVIEW = (
    "reviewId decisionId itemKey itemId classifier label explanation reasonCode reviewer selectedBy corrects "
    "recordedAt undoneAt undoneBy"
)
SHOWN = "decisionId label confidence version refit decidedAt reason sent propensity"
ITEM = (
    f"key itemId partition state first{{{SHOWN}}} latest{{{SHOWN}}} "
    "review{reviewId label reviewer selectedBy recordedAt} changed"
)
IMPORT = (
    "id classifier filename size rowCount state jobId recorded known bad badRows{line column rule message} "
    "createdBy createdAt endedAt columns{idColumn textColumns labelColumn mapping otherwise reviewRate auditRate "
    "lowConfidence}"
)
EVALUATION = (
    "id classifier heldOutSet model minimumPerLabel state cancelRequested reason requestBound requestsUsed "
    "requestsTotal unanswered jobId reportId startedAt endedAt"
)
REPORT = (
    "id classifier createdAt heldOutSet scored verdict summary headline{before after changePoints "
    "beforeInterval{low high} afterInterval{low high} changeInterval{low high}}"
)
ASSIGNMENT = (
    "id itemKey itemId values decisionId classifier reason label confidence probabilities{label share} expiresAt "
    "skippedBefore"
)
RECORDED = "reviewId itemId label selectedBy isCorrection new"
JOB = (
    "id kind recordId state attempts progressDone progressTotal cancelRequestedAt result errorId errorMessage "
    "createdAt startedAt finishedAt"
)
TOKEN = "id name beginning role maker room recordId createdAt expiresAt revokedAt lastUsedAt"
DEFINITION = (
    "id name createdAt seed fingerprint learnEvery classifiers{name labels question inputField positiveLabel "
    "rubric priming{text label} usesClock}"
)
CREATED = {
    "name": "made",
    "seed": "seed-9",
    "classifiers": [
        {
            "name": "screening",
            "labels": ["include", "exclude"],
            "question": "Is it about attention?",
            "positiveLabel": "include",
            "priming": [{"text": "attention in children", "label": "include"}],
        }
    ],
    "learnEvery": 7,
}
FOREIGN = {
    "itemId": "brought-in",
    "values": {"text": "attention and rating", "number": 2**53 + 1},
    "outputs": [{"classifier": "screening", "label": "include", "confidence": 0.9}],
    "sent": True,
    "reason": "audit",
    "propensity": 0.25,
}
COLUMNS = {"idColumn": "record", "textColumns": ["text"], "labelColumn": "decision"}


@dataclass(frozen=True)
class Document:
    """A query whose variables are ids of a `Whole` by name, or other values; `declared` are the variables' types."""

    selection: str
    declared: str = ""
    ids: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    mutates: bool = False

    @property
    def query(self) -> str:
        """The text."""
        declared = ",".join([*(f"${name}:ID!" for name in self.ids), *([self.declared] if self.declared else [])])
        head = "mutation" if self.mutates else "query"
        return f"{head}{f'({declared})' if declared else ''}{{{self.selection}}}"

    def send(self, program: GraphQL, ids: Mapping[str, str], **changed: Any) -> Any:
        """The answer, asked with these ids."""
        return program.ask(self.query, {**self.values, **{name: ids[name] for name in self.ids}, **changed})


def _of(selection: str, declared: str = "", ids: tuple[str, ...] = (), **values: Any) -> Document:
    """A field of one cyclotron."""
    return Document(f"cyclotron(id:$cyclotronId){{{selection}}}", declared, ("cyclotronId", *ids), values)


def _do(selection: str, declared: str = "", ids: tuple[str, ...] = (), **values: Any) -> Document:
    """A mutation of one cyclotron."""
    return Document(selection, declared, ("cyclotronId", *ids), values, mutates=True)


QUERIES = {
    "me": Document("me{role actor tokenId only account{id name slug}}"),
    "cyclotrons": Document("cyclotrons(first:200){nodes{id name createdAt} nextCursor}"),
    "cyclotron": _of(DEFINITION),
    "heldOutOverview": Document("heldOutOverview(cyclotronId:$cyclotronId)", ids=("cyclotronId",)),
    "jobs": Document(f"jobs(state:$state){{nodes{{{JOB}}} nextCursor}}", "$state:String", values={"state": "done"}),
    "job": Document(f"job(id:$jobId){{{JOB}}}", ids=("jobId",)),
    "tokens": Document(f"tokens{{nodes{{{TOKEN}}} nextCursor}}"),
    "members": Document("members{nodes{name role since} nextCursor}"),
    "auditLog": Document("auditLog(first:200){nodes{id at actor door tokenId action room recordId detail} nextCursor}"),
}
OF_A_CYCLOTRON = {
    "status": _of(
        "status{items{label count} decisions reviews{label count} version refits versions trainingReviews "
        "nextLearningIn}"
    ),
    "items": _of(f"items(first:200){{nodes{{{ITEM}}} nextCursor}}"),
    "item": _of(
        f"item(key:$itemKey){{item{{{ITEM}}} values propensity createdAt decisions{{{DECISION}}} reviews{{{REVIEW}}} "
        "label{label use weight} sets{setId frozenAt label}}",
        ids=("itemKey",),
    ),
    "decisions": _of(f"decisions{{nodes{{{DECISION}}} nextCursor}}"),
    "reviews": _of(f"reviews{{nodes{{{REVIEW}}} nextCursor}}"),
    "queue": _of("queue{waiting held reviewed}"),
    "imports": _of(f"imports{{{IMPORT}}}"),
    "fileImport": _of(f"fileImport(id:$importId){{{IMPORT}}}", ids=("importId",)),
    "fileColumns": _of("fileColumns(id:$importId){name examples usable}", ids=("importId",)),
    "importPreview": _of(
        "importPreview(id:$importId,columns:$columns){good known bad badRows{line column rule message} "
        "labelCounts{label count} values{label count} otherValues rows{line itemId text label} requestBound}",
        "$columns:ImportColumnsInput!",
        ("importId",),
        columns=COLUMNS,
    ),
    "evaluation": _of(f"evaluation(id:$evaluationId){{{EVALUATION}}}", ids=("evaluationId",)),
    "reports": _of(f"reports{{nodes{{{REPORT}}} nextCursor}}"),
    "report": _of(f"report(id:$reportId){{{REPORT} document}}", ids=("reportId",)),
    "events": _of("events(first:200){nodes{sequence kind at detail} nextCursor}"),
}
MUTATIONS = {
    "heldOutCommand": Document(
        'heldOutCommand(action:"freeze",payload:{cyclotronId:$cyclotronId})', ids=("cyclotronId",), mutates=True
    ),
    "createCyclotron": Document(
        f"createCyclotron(cyclotron:$cyclotron){{{DEFINITION}}}",
        "$cyclotron:CyclotronInput!",
        values={"cyclotron": CREATED},
        mutates=True,
    ),
    "setLearningInterval": _do("setLearningInterval(cyclotronId:$cyclotronId,learnEvery:9){learnEvery}"),
    "decide": _do(
        f"decide(cyclotronId:$cyclotronId,item:$item){{decisionId itemId partition sent reason propensity {OUTPUTS}}}",
        "$item:ItemInput!",
        item={"itemId": "decided-now", "values": {"text": "attention"}, "reviewRate": 0.5, "lowConfidence": 1},
    ),
    "importDecisions": _do(
        "importDecisions(cyclotronId:$cyclotronId,decisions:$decisions){decisionIds recorded known}",
        "$decisions:[ForeignDecisionInput!]!",
        decisions=[FOREIGN],
    ),
    "recordReview": _do(
        f"recordReview(cyclotronId:$cyclotronId,review:$review){{{RECORDED}}}",
        "$review:ReviewInput!",
        review={"reviewId": "said-now", "decisionId": "dec_x", "label": "include"},
    ),
    "undoReview": _do("undoReview(cyclotronId:$cyclotronId,reviewId:$reviewId)", ids=("reviewId",)),
    "takeItem": _do(f"takeItem(cyclotronId:$cyclotronId){{{ASSIGNMENT}}}"),
    "answerAssignment": _do(
        'answerAssignment(cyclotronId:$cyclotronId,assignmentId:$assignmentId,label:"include",explanation:"so")'
        f"{{{RECORDED}}}",
        ids=("assignmentId",),
    ),
    "skipAssignment": _do("skipAssignment(cyclotronId:$cyclotronId,assignmentId:$assignmentId)", ids=("assignmentId",)),
    "undoLast": _do(f"undoLast(cyclotronId:$cyclotronId){{{ASSIGNMENT}}}"),
    "uploadFile": _do(
        f"uploadFile(cyclotronId:$cyclotronId,filename:$filename,csv:$csv){{{IMPORT}}}",
        "$filename:String!,$csv:String!",
        filename="more.csv",
        csv="record,text\nrow-3,attention é\n",
    ),
    "startImport": _do(
        f"startImport(cyclotronId:$cyclotronId,importId:$importId,columns:$columns){{{IMPORT}}}",
        "$columns:ImportColumnsInput!",
        ("importId",),
        columns=COLUMNS,
    ),
    "discardImport": _do("discardImport(cyclotronId:$cyclotronId,importId:$importId)", ids=("importId",)),
    "cancelEvaluation": _do(
        f"cancelEvaluation(cyclotronId:$cyclotronId,evaluationId:$evaluationId){{{EVALUATION}}}", ids=("evaluationId",)
    ),
    "cancelJob": Document(f"cancelJob(id:$jobId){{{JOB}}}", ids=("jobId",), mutates=True),
    "retryJob": Document(f"retryJob(id:$jobId){{{JOB}}}", ids=("jobId",), mutates=True),
    "createToken": Document(
        'createToken(name:"nightly",role:"viewer",days:7,room:"cyclotron",recordId:$cyclotronId)'
        f"{{secret token{{{TOKEN}}}}}",
        ids=("cyclotronId",),
        mutates=True,
    ),
    "revokeToken": Document(f"revokeToken(id:$tokenId){{{TOKEN}}}", ids=("tokenId",), mutates=True),
}
DOCUMENTS = {**QUERIES, **OF_A_CYCLOTRON, **MUTATIONS}
