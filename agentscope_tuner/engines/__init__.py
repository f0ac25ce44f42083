"""Running a judge over many rollouts: on this machine's cores, or on a cluster."""
