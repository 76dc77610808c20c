"""JSON Schemas and examples of the cyclotron's documents, shipped as package data."""
