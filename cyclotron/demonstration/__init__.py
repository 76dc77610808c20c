"""The demonstration: tips that readers sent to an invented science newsletter, and an editor's label for each."""

NAME = "demonstration"
