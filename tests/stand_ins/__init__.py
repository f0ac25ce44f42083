"""What adapters import of trainers that no package index has: the names and signatures that their sources document."""
