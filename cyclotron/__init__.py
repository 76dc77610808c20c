"""A classifier that learns from reviewers, and an honest measure of what it learned."""
