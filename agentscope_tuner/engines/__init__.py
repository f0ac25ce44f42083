"""Runs a judge over many rollouts on the cores of this machine."""
