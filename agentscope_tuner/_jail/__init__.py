"""Runs foreign programs where they can neither see, change nor outlive anything of this machine's.

`Jail` is a world without files and network, made by bubblewrap. In it `inside` starts one program after another,
each in a process tree and a `/tmp` of its own. What a program leaves is bytes, for the caller to read as data.
"""
