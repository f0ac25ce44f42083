"""All that knows Ray: files, rollouts and the service judged on a cluster."""
