"""AWS on this machine, for tests and measurements. Nothing here runs in production."""
