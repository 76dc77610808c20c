"""An app whose jobs are for worker processes under test: each leaves its marks in a folder that its payload names."""
