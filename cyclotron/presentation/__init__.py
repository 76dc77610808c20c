"""From an overview or a report to what a page shows: figures, sentences and chart geometry. Pure functions."""
