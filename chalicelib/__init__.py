"""The service: HTTP edge -> parse -> verbs -> store -> render. Only `edge` knows Chalice."""
