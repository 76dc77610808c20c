"""Evidence-priced cards in a git repository: their states, doors, conformance and the one renderer."""
