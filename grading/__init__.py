"""Trajectories, splits, reports, corridors and scorecards: whether a bank helps on work it has not seen."""
