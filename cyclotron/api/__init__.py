"""The cyclotron's part of `/api/v1/`: translate in, one call of the workspace or a query, translate out."""
