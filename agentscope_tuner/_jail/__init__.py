"""Runs foreign programs where they can neither see nor change anything of this machine, nor outlive their run.

`Jail` is a world without files and network, made by bubblewrap. In it `inside` starts one program after another, each
in a process tree and a `/tmp` of its own. What a program leaves is bytes, for the caller to read as data.
"""
