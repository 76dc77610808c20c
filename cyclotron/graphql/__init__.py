"""The cyclotron's part of the GraphQL schema: translate in, one call of the workspace or a query, translate out."""
