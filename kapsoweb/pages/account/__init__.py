"""An account's pages: its members, its API tokens, what was done in it, and a visitor's place among accounts."""
