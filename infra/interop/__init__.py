"""OctoStore's own programs against this service: what its users would bring along when they move over."""
