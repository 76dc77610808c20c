"""The form for a new cyclotron: one classifier; more than one come by the REST door."""

from typing import Any

from django import forms

from cyclotron.core.definition import (
    DEFAULT_LEARN_EVERY,
    MAX_LABEL,
    MAX_LEARN_EVERY,
    MAX_NAME,
    ClassifierDefinition,
    CyclotronDefinition,
)
from cyclotron.core.errors import InvalidDefinitionError
from kapsoweb.accounts.actions import check_name
from kapsoweb.accounts.errors import InvalidNameError, NameTakenError
from kapsoweb.doors.limits import LABELS_MOST, QUESTION_CHARACTERS, RUBRIC_CHARACTERS, SEED_CHARACTERS
from kapsoweb.foundation.errors import KapsoError
from kapsoweb.foundation.wording import sentence_case

CLASSIFIER = "decision"  # as the command line names a cyclotron's only classifier
MORE = ("input_field", "seed", "learn_every")  # what seldom needs another value

_PLAIN = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
_PROSE = {"dir": "auto"}  # labels and questions may be written from right to left
_NAME_RULE = (
    "1 to 64 letters (A to Z), digits, full stops, underscores and hyphens, beginning with a letter or a digit. "
    "It stands in addresses and commands."
)


class CreateForm(forms.Form):
    """A cyclotron's name and definition, with every broken rule beside its field."""

    use_required_attribute = False  # the server says what is missing, in one way for every browser

    name = forms.CharField(
        label="Name",
        help_text=_NAME_RULE,
        widget=forms.TextInput(attrs=_PLAIN),
        error_messages={"required": "Give it a name."},
    )
    question = forms.CharField(
        label="Question",
        max_length=QUESTION_CHARACTERS,
        help_text="What is decided about each item, as you would ask a colleague: Is this study about attention?",
        widget=forms.Textarea(attrs={"rows": 2, **_PROSE}),
        error_messages={"required": "Ask a question."},
    )
    labels = forms.CharField(
        label="Labels",
        help_text=f"The possible answers, one a line, two at least; {MAX_LABEL} characters each at most.",
        widget=forms.Textarea(attrs={"rows": 4, **_PROSE}),
        error_messages={"required": "Give two labels at least, one a line."},
    )
    positive_label = forms.CharField(
        label="Positive label",
        help_text="The label that is looked for, if there is one; reports then give its precision and recall.",
        required=False,
        widget=forms.TextInput(attrs=_PROSE),
    )
    rubric = forms.CharField(
        label="Rubric",
        max_length=RUBRIC_CHARACTERS,
        help_text="What version 1 is told about how to decide. Learning may add to it.",
        required=False,
        widget=forms.Textarea(attrs={"rows": 6, **_PROSE}),
    )
    input_field = forms.CharField(
        label="Input field",
        max_length=MAX_NAME,
        help_text="The field of an item that holds the text to decide on. An import fills it.",
        initial="text",
        widget=forms.TextInput(attrs=_PLAIN),
        error_messages={"required": "Name the field of an item that holds its text."},
    )
    seed = forms.CharField(
        label="Seed",
        max_length=SEED_CHARACTERS,
        help_text="With an item's identity it says for good which items are held out. Left empty, it is the name.",
        required=False,
        widget=forms.TextInput(attrs=_PLAIN),
    )
    learn_every = forms.IntegerField(
        label="Learn after this many reviews",
        help_text="New training reviews after which a learning step is due.",
        initial=DEFAULT_LEARN_EVERY,
        min_value=1,
        max_value=MAX_LEARN_EVERY,
        error_messages={
            "required": "Say after how many reviews to learn.",
            "invalid": "Enter a whole number.",
            "min_value": "Enter 1 or more.",
            "max_value": f"Enter {MAX_LEARN_EVERY:,} or less.",
        },
    )

    def clean_name(self) -> str:
        """The rule of names is the accounts room's."""
        try:
            return check_name(self.cleaned_data["name"])
        except InvalidNameError as error:
            raise forms.ValidationError(sentence_case(error.message), code=error.id) from None

    def clean_labels(self) -> tuple[str, ...]:
        """One label a line; blank lines and space at the ends do not count."""
        labels = tuple(line.strip() for line in self.cleaned_data["labels"].splitlines() if line.strip())
        if len(labels) > LABELS_MOST:
            raise forms.ValidationError(f"A classifier may have {LABELS_MOST} labels at most.")
        return labels

    def clean_positive_label(self) -> str:
        """Said even while other fields hold errors, for it is seen at once."""
        positive: str = self.cleaned_data["positive_label"]
        labels = self.cleaned_data.get("labels")
        if positive and labels and positive not in labels:
            raise forms.ValidationError("This is none of the labels above.", code=InvalidDefinitionError.id)
        return positive

    def clean(self) -> dict[str, Any]:
        """Hold the whole against the rules of a definition."""
        given = self.cleaned_data
        if not self.errors:
            try:
                given["definition"] = CyclotronDefinition(
                    seed=given["seed"] or given["name"],
                    classifiers=(
                        ClassifierDefinition(
                            name=CLASSIFIER,
                            labels=given["labels"],
                            question=given["question"].replace("\r\n", "\n"),
                            input_field=given["input_field"],
                            positive_label=given["positive_label"] or None,
                            rubric=given["rubric"].replace("\r\n", "\n"),
                        ),
                    ),
                    learn_every=given["learn_every"],
                )
            except InvalidDefinitionError as error:
                self.refuse(error)
        return given

    def refuse(self, error: KapsoError) -> None:
        """Show an error beside the field that it is about, or above them all where that is not known."""
        field = None
        if isinstance(error, NameTakenError | InvalidNameError):
            field = "name"
        elif isinstance(error, InvalidDefinitionError):
            about = {"positiveLabel": "positive_label", "label": "labels", "labels": "labels"}
            field = next((name for key, name in about.items() if key in error.detail), None)
        self.add_error(field, forms.ValidationError(sentence_case(error.message), code=error.id))

    @property
    def more_is_open(self) -> bool:
        """Whether the seldom used fields are shown at once: when one of them holds an error."""
        return any(name in self.errors for name in MORE)
