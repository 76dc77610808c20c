"""Campaigns that read one pinned bank through three tools, and the log of every pull."""
