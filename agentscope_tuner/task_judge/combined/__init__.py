"""Judges that ask other judges: what they share."""
