"""Everything that uses Ray: a cluster judges files, single rollouts, and the service's requests."""
