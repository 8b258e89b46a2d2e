"""The JSON of every request and answer, as types. They parse, they render, and they are the OpenAPI page."""
