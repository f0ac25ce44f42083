"""The system calls that the kernel refuses a jailed program: its seccomp filter.

A filter is a short program for the kernel, one `struct sock_filter` after another, see seccomp(2). Every call that is
newer than the newest known one is refused, too, so a newer kernel gives a jailed program nothing new.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Sequence

# name: number on x86_64, number on aarch64; None if the machine has no such call
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    # mounts and namespaces
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # parts of the kernel with many past holes
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_setup": (206, 0),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "fanotify_init": (300, 262),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "vmsplice": (278, 75),
    "modify_ldt": (154, None),
    "personality": (135, 92),
    "lookup_dcookie": (212, 18),
    # memory that does not count in any process's size
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    # its priority for a core: a program that lowers it is starved, which is no verdict
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "ioprio_set": (251, 30),
    # the network: asyncio needs `socketpair` alone, whose sockets could get addresses with these calls
    "socket": (41, 198),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    # the machine
    "reboot": (169, 142),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "create_module": (174, None),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "iopl": (172, None),
    "ioperm": (173, None),
    "uselib": (134, None),
    "ustat": (136, None),
    "sysfs": (139, None),
    "_sysctl": (156, None),
    "nfsservctl": (180, 42),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "mbind": (237, 235),
    "set_mempolicy": (238, 237),
}
# (column, AUDIT_ARCH, clone, clone3, socketpair, prlimit64, mmap, rt_sigaction)
_MACHINES = {
    "x86_64": (0, 0xC000003E, 56, 435, 53, 302, 9, 13),
    "aarch64": (1, 0xC00000B7, 220, 435, 199, 261, 222, 134),
}
# set_mempolicy_home_node of Linux 5.17
_NEWEST = 450
# CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_NEW_NAMESPACES = 0x80 | 0x20000 | 0x2000000 | 0x4000000 | 0x8000000 | 0x10000000 | 0x20000000 | 0x40000000
_AF_UNIX = 1
_MAP_SHARED, _MAP_ANONYMOUS = 0x01, 0x20
_SIGCHLD = 17
_SET_PRIORITY = (141, 140)

_LOAD, _EQUAL, _ABOVE, _AT_LEAST, _TEST, _RETURN = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _ARGUMENT, _FOURTH = 0, 4, 16, 40
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000


def filter_program(machine: str) -> bytes:
    """The filter for a machine, as the bytes that the kernel reads.

    Args:
        machine: its architecture, as `os.uname().machine` names it.

    Raises:
        ValueError: no filter is known for the machine.
    """
    if machine not in _MACHINES:
        raise ValueError(f"no seccomp filter for {machine!r}, only for {', '.join(_MACHINES)}")
    column, arch, clone, clone3, socketpair, prlimit, mmap, sigaction = _MACHINES[machine]
    # shared memory, which its processes can keep without its counting in their sizes; MAP_SHARED_VALIDATE, too
    is_shared = [_line(_TEST, _MAP_ANONYMOUS, 0, 3), _line(_TEST, _MAP_SHARED, 0, 2), *_refusal(errno.EPERM)]
    numbers = [row[column] for row in _REFUSED.values()]
    cases = {number: [_line(_RETURN, _ERRNO | errno.EPERM)] for number in numbers if number is not None}
    cases |= {
        # the newer form hides its flags in memory; "not there" has the C library use the older form
        clone3: [_line(_RETURN, _ERRNO | errno.ENOSYS)],
        clone: [_line(_LOAD, _ARGUMENT), _line(_TEST, _NEW_NAMESPACES, 0, 1), *_refusal(errno.EPERM)],
        socketpair: [_line(_LOAD, _ARGUMENT), _line(_EQUAL, _AF_UNIX, 1, 0), *_refusal(errno.EAFNOSUPPORT)],
        # it may set its own limits alone: its parent may have the same user, and could be starved into "no verdict"
        prlimit: [_line(_LOAD, _ARGUMENT), _line(_EQUAL, 0, 1, 0), *_refusal(errno.EPERM)],
        mmap: [_line(_LOAD, _FOURTH), *is_shared, _line(_RETURN, _ALLOW)],
        # the kernel adds a child's time to its parent's only if the parent waits for it, and not if SIGCHLD is
        # ignored: the call does nothing and reports success, since few programs need it
        sigaction: [_line(_LOAD, _ARGUMENT), _line(_EQUAL, _SIGCHLD, 0, 1), *_refusal(0)],
        # the call to change its priority does nothing and reports success: few programs need it
        _SET_PRIORITY[column]: _refusal(0),
    }
    lines = [
        _line(_LOAD, _ARCH),
        # numbers mean other calls under another architecture's convention
        _line(_EQUAL, arch, 1, 0),
        _line(_RETURN, _KILL),
        _line(_LOAD, _NUMBER),
        _line(_ABOVE, _NEWEST, 0, 1),
        _line(_RETURN, _ERRNO | errno.ENOSYS),
    ]
    return b"".join(lines + _search(sorted(cases.items())))


def _search(cases: Sequence[tuple[int, list[bytes]]]) -> list[bytes]:
    """The lines that find a call's number among the cases and do what its case says; any other call is allowed.

    They search by halves: whenever a process installs the filter, the kernel runs it for every possible number.

    Args:
        cases: the numbers of calls, in order, each with its lines.
    """
    if len(cases) <= 3:
        compared = [line for number, then in cases for line in (_line(_EQUAL, number, 0, len(then)), *then)]
        return [*compared, _line(_RETURN, _ALLOW)]
    middle = len(cases) // 2
    below, above = _search(cases[:middle]), _search(cases[middle:])
    return [_line(_AT_LEAST, cases[middle][0], len(below), 0), *below, *above]


def _refusal(code: int) -> list[bytes]:
    """Two lines: the first refuses the call with this error code; a test may skip it to the second, which allows it."""
    return [_line(_RETURN, _ERRNO | code), _line(_RETURN, _ALLOW)]


def _line(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """One instruction of the filter.

    Args:
        code: the operation.
        value: its operand.
        if_true, if_false: how many lines a test skips.
    """
    return struct.pack("=HBBI", code, if_true, if_false, value)
