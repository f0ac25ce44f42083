"""Running a judge over many rollouts."""
