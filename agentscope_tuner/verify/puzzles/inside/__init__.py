"""What runs inside a jail: it imports its neighbours and the standard library, nothing else."""
