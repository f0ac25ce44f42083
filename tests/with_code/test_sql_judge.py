"""SqlJudge: rows decide, and no query changes, leaves or outlives the database."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner import Task, WorkflowTask, load_judge
from agentscope_tuner.task_judge.sql_judge import same_rows
from tests.with_code.judged import wrote

_GOLD = "SELECT a, b FROM t"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("databases")
    folder.chmod(0o755)
    (folder / "shop").mkdir()
    with sqlite3.connect(folder / "shop" / "shop.sqlite") as database:
        database.executescript(
            "CREATE TABLE t(a INT, b TEXT, c REAL);"
            "INSERT INTO t VALUES (1,'x',1.5),(2,'y',2.5),(2,'y',2.5),(3,NULL,1e3)"
        )
    return folder


def _judged(folder: Path, query: str, gold: str = _GOLD, **settings: Any) -> Any:
    kwargs = {"databases": str(folder), "seconds": 1.0, **settings}
    section = {"judge_protocol": "agentscope_tuner.task_judge.sql_judge->SqlJudge", "judge_kwargs": kwargs}
    task = WorkflowTask(task=Task(metadata={"db_id": "shop", "gold_sql": gold}))
    return load_judge({"astuner": {"task_judge": section}}).judge(task, wrote(query, "sql"))


@pytest.mark.parametrize(
    ("query", "gold", "reward"),
    [
        ("SELECT a, b FROM t ORDER BY a DESC;", _GOLD, 1.0),
        ("SELECT a * 1.0, b FROM t", _GOLD, 1.0),
        ("SELECT DISTINCT a, b FROM t", _GOLD, 0.0),
        ("SELECT b, a FROM t", _GOLD, 0.0),
        ("SELECT a, b FROM t ORDER BY a", f"{_GOLD} ORDER BY a DESC", 0.0),
        ("SELECT a FROM t ORDER BY a", "SELECT a FROM (SELECT a FROM t ORDER BY a DESC)", 1.0),
        ("SELECT nope", _GOLD, 0.0),
        # the library's own tables of a list's items; those that tell of the database are none of a question
        ("SELECT j.value, 'x' FROM json_each((SELECT json_group_array(a) FROM t)) j", "SELECT a, 'x' FROM t", 1.0),
        ("SELECT atom FROM json_tree((SELECT json_group_array(a) FROM t)) WHERE atom > 1", "SELECT a FROM t", 0.0),
        ("SELECT name FROM pragma_table_info('t')", "VALUES ('a'), ('b'), ('c')", 0.0),
        # NULL is NULL, and neither nothing, nor 0, nor a text
        ("SELECT NULL, 1", "SELECT NULL, 1", 1.0),
        ("SELECT '', 1", "SELECT NULL, 1", 0.0),
        ("SELECT 'NULL', 1", "SELECT NULL, 1", 0.0),
        ("SELECT 0, 1", "SELECT NULL, 1", 0.0),
        # numbers are numbers, and no texts; floats agree to twelve digits
        ("SELECT 1.0", "SELECT 1", 1.0),
        ("SELECT '1'", "SELECT 1", 0.0),
        ("SELECT 0.1 + 0.2", "SELECT 0.3", 1.0),
        ("SELECT 0.30001", "SELECT 0.3", 0.0),
        ("SELECT 9007199254740993", "SELECT 9007199254740992", 0.0),
        ("SELECT 1e999", "SELECT 1e999", 1.0),
        ("SELECT x'61'", "SELECT 'a'", 0.0),
        ("SELECT 'A'", "SELECT 'a'", 0.0),
        # rows count as often as they stand there
        ("SELECT a FROM t UNION SELECT a FROM t", "SELECT a FROM t", 0.0),
        ("SELECT a FROM t UNION ALL SELECT a FROM t", "SELECT a FROM t", 0.0),
        ("SELECT a FROM t WHERE 0", "SELECT a FROM t", 0.0),
        # in the order that the whole reference asks for, and in no other's
        ("SELECT a FROM t ORDER BY a DESC", "SELECT a FROM t ORDER BY a", 0.0),
        ("SELECT a FROM t ORDER BY a DESC", "SELECT a FROM t -- ORDER BY a", 1.0),
        ("SELECT a FROM t ORDER BY a DESC", "SELECT a, row_number() OVER (ORDER BY a) FROM t", 0.0),
        ("SELECT a FROM t ORDER BY 1 DESC", "SELECT a FROM t WHERE b IS NOT 'ORDER BY' OR 1", 1.0),
        # of rows that the reference orders alike, any may come first
        ("SELECT b, c FROM t ORDER BY a = 3, c DESC", "SELECT b, c FROM t ORDER BY a = 3", 1.0),
        ("SELECT b, c FROM t ORDER BY c DESC", "SELECT b, c FROM t ORDER BY a = 3", 0.0),
        ("SELECT a, c FROM t ORDER BY a DESC LIMIT 4", "SELECT a, c FROM t ORDER BY a > 0 -- so\nLIMIT 4", 1.0),
        ("SELECT a, c FROM t ORDER BY a DESC LIMIT 2", "SELECT a, c FROM t ORDER BY a > 0 LIMIT 2", 1.0),
        ("SELECT a, c FROM t ORDER BY a > 0, a DESC", "SELECT a, c FROM t ORDER BY a > 0", 1.0),
        ("SELECT a, c FROM t ORDER BY a DESC", "SELECT a, c FROM t ORDER BY a, c", 0.0),
        # the end cuts what it orders alike: any of these rows, and no other
        ("SELECT c FROM t ORDER BY a = 3, c DESC LIMIT 1", "SELECT c FROM t ORDER BY a = 3 LIMIT 1", 1.0),
        ("SELECT c FROM t ORDER BY c LIMIT 2", "SELECT c FROM t ORDER BY a = 3, b = 'x' LIMIT 2", 0.0),
        ("SELECT c FROM t ORDER BY a > 2, c DESC LIMIT 1, 1", "SELECT c FROM t ORDER BY a > 2 LIMIT 1, 1", 1.0),
        ("VALUES (1e3),(1.5)", "SELECT c FROM t ORDER BY a = 3 DESC LIMIT 2 OFFSET 0;", 1.0),
        ("VALUES (1e3),(1e3)", "SELECT c FROM t ORDER BY a = 3 DESC LIMIT 2", 0.0),
        ("VALUES (1.5),(1e3)", "SELECT c FROM t ORDER BY a = 3 DESC LIMIT 2", 0.0),
        ("VALUES (1e3)", "SELECT c FROM t ORDER BY a = 3 LIMIT 1", 0.0),
        ("VALUES (1e3)", "SELECT c FROM t ORDER BY a = 3 LIMIT 1 OFFSET 3", 1.0),
        ("VALUES (1.5)", "SELECT c FROM t ORDER BY a = 3 LIMIT 1 OFFSET 3", 0.0),
        ("SELECT 'z'", "SELECT b FROM t ORDER BY a LIMIT 1", 0.0),
        (
            "SELECT a FROM t GROUP BY a HAVING a = 3",
            "SELECT a FROM t WHERE a > 1 GROUP BY a ORDER BY a > 1 LIMIT 1",
            1.0,
        ),
        # a comment is white space
        ("SELECT a FROM t ORDER BY a DESC", "SELECT a FROM t ORDER /* x */ BY a", 0.0),
        ("SELECT a FROM t ORDER BY a DESC", "SELECT a FROM t ORDER -- x\n\tBY a", 0.0),
        ("SELECT a FROM t ORDER BY a DESC", "SELECT a FROM t ORDER/**/BY a", 0.0),
        ("SELECT a FROM t ORDER BY a", "SELECT a FROM t ORDER/* BY */\nBY a", 1.0),
        ("SELECT a FROM t ORDER BY a DESC", "SELECT a FROM t /* ORDER */ -- BY a", 1.0),
        ("SELECT a AS 'order' FROM t ORDER BY a DESC", 'SELECT a AS "order" FROM t /* BY a */', 1.0),
        # whole numbers are what they are, and what rounding leaves of 0 is 0
        ("SELECT 1234567890123.0", "SELECT 1234567890123", 1.0),
        ("SELECT 1234567890124.0", "SELECT 1234567890123", 0.0),
        ("SELECT 1234567890124.0", "SELECT 1234567890123.0", 0.0),
        ("SELECT 123456789012.30001", "SELECT 123456789012.3", 1.0),
        ("SELECT 1234567890123.0002", "SELECT 1234567890123", 1.0),
        # also beside a number that is none
        ("VALUES (1234567890124),(5.0000000000001)", "VALUES (1234567890123),(5)", 0.0),
        ("VALUES (1234567890124),(5.5)", "VALUES (1234567890123),(5.5)", 0.0),
        ("VALUES (1234567890120),(5.5)", "VALUES (1234567890123),(5.5)", 0.0),
        ("VALUES (1234567890123),(5.0000000000001)", "VALUES (1234567890123),(5)", 1.0),
        ("SELECT 12345678901.4", "SELECT 12345678901.3", 0.0),
        ("SELECT 0.1 + 0.2 - 0.3", "SELECT 0", 1.0),
        ("SELECT 0.1 + 0.2 - 0.3, 0.5", "SELECT 0.0, 0.5", 1.0),
        ("SELECT 1e-9", "SELECT 0", 0.0),
        ("SELECT 0.0", "SELECT 1.6e-19", 0.0),
        ("SELECT 1.7e-19", "SELECT 1.6e-19", 0.0),
        ("VALUES (0.0),(1e-20)", "VALUES (0.0),(2e-20)", 0.0),
        ("SELECT NULL", "SELECT 0.0", 0.0),
        # what is other each time is no reference; the day is the same for both
        ("SELECT 5", "SELECT abs(random())", None),
        ("SELECT 5", "SELECT hex(randomblob(8))", None),
        ("SELECT a FROM t", "SELECT a + random() FROM t", None),
        ("SELECT 5", "SELECT julianday('now') + abs(random() % 1000)", None),
        ("SELECT 5", "SELECT random() = 5, random()", None),
        ("SELECT date()", "SELECT date('now')", 1.0),
        ("SELECT a FROM t", "SELECT a FROM t WHERE date('now') > '2000-01-01'", 1.0),
        ("SELECT strftime('%Y') - 2000", "SELECT strftime('%Y', 'now') - 2000", 1.0),
        ("SELECT 'random'", "SELECT 'random'", 1.0),
        ("SELECT a FROM t", "SELECT a FROM t ORDER BY random() * 0", 1.0),
        # as people write them
        ("select\tA, B from T ;  \n", _GOLD, 1.0),
        ('SELECT "a", `b` FROM [t];;', _GOLD, 1.0),
        ("WITH x AS MATERIALIZED (SELECT * FROM t) SELECT x.a AS n, x.b FROM x;-- done", _GOLD, 1.0),
        ("SELECT a, b FROM t WHERE b = 'x' UNION ALL SELECT a, b FROM t WHERE b IS NOT 'x'", _GOLD, 1.0),
        ("VALUES (2,'y'),(1,'x'),(3,NULL),(2,'y')", _GOLD, 1.0),
        ("SELECT a, CASE b WHEN 'x' THEN 'x' ELSE nullif(b, '') END FROM t LIMIT -1", _GOLD, 1.0),
        ("SELECT t.a, u.b FROM t JOIN t AS u ON t.rowid = u.rowid", _GOLD, 1.0),
        ("/* größer; */ SELECT a AS größe, b FROM t -- ;", _GOLD, 1.0),
        # SQLite's own rule
        ("SELECT a, b FROM t /* unended", _GOLD, 1.0),
        ("SELECT count(*) FILTER (WHERE a > 1) FROM t", "SELECT sum(a > 1) FROM t", 1.0),
        ("SELECT json_extract(json_array(a, b), '$[0]') + 0, b FROM t", _GOLD, 1.0),
        ("SELECT strftime('%Y', '2024-02-29')", "SELECT substr('2024-02-29', 1, 4)", 1.0),
        (
            "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT n FROM r",
            "VALUES (1),(2),(3)",
            1.0,
        ),
        (
            "SELECT a, rank() OVER (ORDER BY a) FROM t",
            "SELECT a, (SELECT count(*) + 1 FROM t u WHERE u.a < t.a) FROM t",
            1.0,
        ),
        # comments and further statements
        ("-- all\nSELECT a, b FROM t -- done", _GOLD, 1.0),
        ("SELECT a, b FROM t; SELECT 1", _GOLD, 0.0),
        ("EXPLAIN SELECT a, b FROM t", _GOLD, 0.0),
        ("SELECT a, b FROM t", "SELECT nope", None),
        ("SELECT a FROM t WHERE 0", "SELECT a FROM t WHERE 0", None),
    ],
)
def test_rows_decide(folder: Path, query: str, gold: str, reward: float | None) -> None:
    judgement = _judged(folder, query, gold)
    assert judgement.reward == reward, judgement
    assert judgement.cause == (None if reward is not None else "reference")


@pytest.mark.parametrize(
    ("row", "reward"),
    [
        ({"sql": _GOLD, "query": "Which are there?"}, 1.0),
        ({"SQL": _GOLD, "query": "Which are there?", "sql": None}, 1.0),
        ({"query": _GOLD, "sql": {"select": [1]}}, 1.0),
        ({"query": _GOLD, "sql": ""}, 1.0),
        ({"query": "Which are there?"}, None),
    ],
)
def test_the_reference_is_the_query_and_not_the_question(folder: Path, row: dict[str, Any], reward: float) -> None:
    section = {"judge": "sql", "judge_kwargs": {"databases": str(folder)}}
    task = WorkflowTask(task=Task(metadata={"db_id": "shop", **row}))
    assert load_judge({"astuner": {"task_judge": section}}).judge(task, wrote(_GOLD, "mysql")).reward == reward


@pytest.mark.parametrize(
    "attack",
    [
        "DELETE FROM t",
        "UPDATE t SET a = 1 RETURNING a, b",
        "REPLACE INTO t VALUES (1, 1, 1)",
        "CREATE TABLE x(a)",
        "DROP TABLE t",
        "ATTACH '/tmp/x' AS x",
        "PRAGMA writable_schema = 1",
        "SELECT * FROM pragma_table_info('t')",
        "SELECT load_extension('x')",
        "SELECT readfile('/etc/passwd')",
        "VACUUM",
        "VACUUM INTO '/tmp/x'",
        "BEGIN EXCLUSIVE",
        "SELECT a, b FROM t; DROP TABLE t",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
        "SELECT randomblob(1000000000)",
        "SELECT zeroblob(999999999)",
        "SELECT printf('%.*c', 100000000, 'x')",
        "SELECT * FROM t, t b, t c, t d, t e, t f, t g, t h, t i, t j, t k, t l",
        "SELECT a, b FROM t\0 UNION ALL SELECT 1, 2",
        "SELECT * FROM dbstat",
        "SELECT sql, 1 FROM sqlite_master",
        "SELECT fts3_tokenizer('simple', x'4141414141414141')",
        "WITH RECURSIVE r(n) AS (SELECT 'a' UNION ALL SELECT n || n FROM r) SELECT n, n FROM r",
        f"SELECT a, b FROM t WHERE '{'a' * 50_000}' LIKE '{'%a' * 20_000}b' OR 0",
        f"SELECT a, b FROM t WHERE {'(' * 5000}1{')' * 5000}",
        f"SELECT {', '.join(['b'] * 2000)} FROM t",
        "SELECT replace(hex(zeroblob(400000)), '00', 'aaaaaaaaaa'), b FROM t",
        "SELECT CAST(x'ff' AS TEXT), char(55296) FROM t",
        "SELECT 9e999 - 9e999, b FROM t",
        "SELECT a, b FROM t ORDER BY (SELECT count(*) FROM t x, t y, t z, t u, t v, t w, t p, t q, t r, t s, t o, "
        "t g, t h, t i, t j, t k)",
        "COMMIT",
        "SAVEPOINT s",
        "DETACH main",
        "INSERT INTO t SELECT a, b, c FROM t",
        "CREATE TEMP VIEW v AS SELECT a, b FROM t",
        "ANALYZE",
    ],
)
def test_attacks_are_not_paid_and_change_nothing(folder: Path, attack: str) -> None:
    file = folder / "shop" / "shop.sqlite"
    before = hashlib.sha256(file.read_bytes()).digest()
    assert _judged(folder, attack).reward == 0.0
    assert hashlib.sha256(file.read_bytes()).digest() == before
    assert [path.name for path in file.parent.iterdir()] == ["shop.sqlite"]


def test_a_lucky_match_is_found_on_a_variant(folder: Path, tmp_path: Path) -> None:
    variant = tmp_path / "variant"
    variant.mkdir()
    for place in (tmp_path.parent, tmp_path, variant):
        place.chmod(0o755)
    with sqlite3.connect(variant / "shop.sqlite") as database:
        database.executescript("CREATE TABLE t(a INT, b TEXT, c REAL); INSERT INTO t VALUES (9,'z',0)")
    lucky = "SELECT 4 AS n"
    assert _judged(folder, lucky, "SELECT count(*) FROM t").reward == 1.0
    assert _judged(folder, lucky, "SELECT count(*) FROM t", variants=[str(variant)]).reward == 0.0


@pytest.mark.parametrize(
    ("got", "skipped", "asked"),
    [
        ([(1,), (2,)], 0, []),
        # the same rows, moved: ties may allow that, first within the limit and then without
        ([(2,), (1,)], None, [False]),
        ([(2,), (1,)], 0, [False, True]),
        # other rows: only a limit could have cut them among equals
        ([(3,), (1,)], None, []),
        ([(3,), (1,)], 0, [True]),
    ],
)
def test_a_reference_is_asked_for_its_ties_only_where_they_could_decide(
    got: list[tuple[int]], skipped: int | None, asked: list[bool]
) -> None:
    whole: list[bool] = []

    def both_ways(all_rows: bool) -> None:
        whole.append(all_rows)

    told = same_rows(got, [(1,), (2,)], ordered=True, both_ways=both_ways, skipped=skipped)
    assert whole == asked
    assert (told is None) == (got == [(1,), (2,)])
