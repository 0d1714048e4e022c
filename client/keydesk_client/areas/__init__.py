"""The areas of a client: one class a resource, one method an operation."""
