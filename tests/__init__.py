"""Ours, and a package: verl and OpenRLHF install tests of their own under this name, which would hide a bare folder."""
