"""Rules over CSV, TSV, JSONL and Parquet: verdict columns are added, and no row is lost or changed on the way."""

from __future__ import annotations

import csv
import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentscope_tuner.errors import ConfigError
from agentscope_tuner.rules import RuleSet, compile_rules, tables
from agentscope_tuner.rules.table_run import RuleTally, check_table, count_table
from tests.tables import each_row

RULES = compile_rules(
    [
        {"id": "binary", "kind": "allowed_values", "allowed_values": ["0", "1"]},
        {"id": "short", "kind": "max_chars", "max_chars": 3},
        {"id": "noted", "kind": "regex_match", "pattern": r"^\S*$", "action": "record"},
    ]
)
PATHOLOGICAL = compile_rules([{"id": "runaway", "kind": "regex_match", "pattern": "^(a+)+$"}])


class Check:
    """Checks one table and remembers what was reported."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.problems: list[str] = []

    def __call__(self, content: bytes, ending: str = ".csv", rules: RuleSet = RULES, **options: Any) -> bytes:
        infile, self.outfile = self.directory / f"in{ending}", self.directory / f"out{ending}"
        infile.write_bytes(content)
        self.tally = check_table(
            infile, self.outfile, rules, on_problem=self.on_problem, on_row=lambda rows, share: None, **options
        )
        return self.outfile.read_bytes()

    def on_problem(self, line: int, reason: str) -> None:
        self.problems.append(f"{line}: {reason}")

    def count(self, **options: Any) -> RuleTally:
        return count_table(self.outfile, on_problem=self.on_problem, on_row=lambda rows, share: None, **options)


@each_row
def check(tmp_path: Path) -> Check:
    return Check(tmp_path)


def test_a_csv_gets_a_verdict_and_its_violations_in_rule_order(check: Check) -> None:
    assert check(b"id,output\n1,0\n2, 1 \n3,maybe\n4,\n") == (
        b'id,output,rule_pass,rule_violations\n1,0,1,\n2, 1 ,1,noted\n3,maybe,0,"binary,short"\n4,,0,binary\n'
    )
    assert check.problems == []
    assert check.tally.to_dict() == check.count().to_dict()


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        pytest.param(
            b"\xef\xbb\xbfoutput\r\n1\r\n",
            {},
            b"\xef\xbb\xbfoutput,rule_pass,rule_violations\r\n1,1,\r\n",
            id="BOM and CRLF",
        ),
        pytest.param(
            b'output,n\n1,"a\nb"\n', {}, b'output,n,rule_pass,rule_violations\n1,"a\nb",1,\n', id="quoted newline"
        ),
        pytest.param(
            b'output,n\n1,"say ""x"", y"\n',
            {},
            b'output,n,rule_pass,rule_violations\n1,"say ""x"", y",1,\n',
            id="quotes",
        ),
        pytest.param(b"output\n1", {}, b"output,rule_pass,rule_violations\n1,1,\n", id="no newline at the end"),
        pytest.param(
            b"output,n\n1,x\n\n0,y\n", {}, b"output,n,rule_pass,rule_violations\n1,x,1,\n0,y,1,\n", id="blank line"
        ),
        pytest.param(
            b"output\n1\n\n0\n",
            {},
            b"output,rule_pass,rule_violations\n1,1,\n,0,binary\n0,1,\n",
            id="a blank line in one column is an empty answer",
        ),
        pytest.param(
            b"answer,output\n1,x\n",
            {"output_column": "answer"},
            b"answer,output,rule_pass,rule_violations\n1,x,1,\n",
            id="another column",
        ),
        pytest.param(
            b"output,rule_pass,rule_violations\n1,0,old\n",
            {},
            b"output,rule_pass,rule_violations\n1,1,\n",
            id="checked before",
        ),
        pytest.param(
            "output,注\n1,好\n".encode("gb18030"),
            {"encoding": "gb18030"},
            "output,注,rule_pass,rule_violations\n1,好,1,\n".encode("gb18030"),
            id="GB18030",
        ),
        pytest.param(
            "output\n1\n".encode("utf-16"),
            {"encoding": "utf-16"},
            "output,rule_pass,rule_violations\n1,1,\n".encode("utf-16"),
            id="UTF-16",
        ),
    ],
)
def test_what_spreadsheets_write_comes_back_as_it_was(
    check: Check, content: bytes, options: dict[str, Any], expected: bytes
) -> None:
    assert check(content, **options) == expected
    assert check.problems == []


@pytest.mark.parametrize(
    ("row", "kept", "problem"),
    [
        (b"1", b"1", "has 1 cells where the header has 2"),
        (b"1,b,c", b"1,b,c", "has 3 cells where the header has 2"),
        # as it stands it would have the four cells of the new header
        (b"1,b,c,d", b"1,b,c,d,", "has 4 cells where the header has 2"),
        (b"1\x00,b", b"1\x00,b", "holds a NUL"),
        (b"\xff\xfe,b", b"\xff\xfe,b", "holds bytes that are not text in this encoding"),
        (b'"1"x,b', b'"1"x,b', "is malformed: ',' expected after '\"'"),
    ],
)
def test_a_malformed_row_is_reported_with_its_line_and_kept(
    check: Check, row: bytes, kept: bytes, problem: str
) -> None:
    table = b'output,n\n1,"two\nlines"\n' + row + b"\n0,z\n"
    expected = b'output,n,rule_pass,rule_violations\n1,"two\nlines",1,\n' + kept + b"\n0,z,1,\n"
    assert check(table) == expected
    assert check.problems == [f"4: {problem}"]
    assert (check.tally.rows, check.tally.overall.passed, check.tally.overall.unchecked) == (3, 2, 1)


@pytest.mark.parametrize(
    "table",
    [
        b'id,output\n2\n"4,unclosed\n5,ok\n',
        b'id,output\n1,a,b\n1,a,b,c\n1,a,b,c,d\n\xff,x\n1\x00,y\n5,"two\nlines",z\n6,ok',
        b'id,output\r\n2\r\n"4"x,unclosed\r\n5,ok\r\n',
    ],
)
def test_a_malformed_row_gets_no_verdict_however_often_the_table_is_checked(tmp_path: Path, table: bytes) -> None:
    rules = compile_rules([{"id": "filled", "kind": "non_empty"}])
    path = tmp_path / "table.csv"
    path.write_bytes(table)
    written, tallies = [], []
    for _ in range(3):
        tally = check_table(path, path, rules, on_problem=lambda line, reason: None, on_row=lambda rows, share: None)
        tallies.append(tally.to_dict())
        written.append(path.read_bytes())
    assert tallies[0] == tallies[1] == tallies[2]
    assert written[0] == written[1] == written[2]
    assert (tallies[0]["passed"], tallies[0]["failed"]) == (1, 0)
    assert tallies[0]["unchecked"] >= 2


def test_a_quote_that_is_never_closed_spoils_one_line_and_not_the_rest(check: Check) -> None:
    rows = b"".join(b"%d,r%d\n" % (number % 2, number) for number in range(1000))
    written = check(b'output,n\n1,"open\n' + rows)
    assert check.problems == ["2: is malformed: unexpected end of data, since a quote is left open"]
    assert check.tally.overall.passed == 1000
    assert written.endswith(b"1,r999,1,\n")


def test_a_cell_longer_than_the_csv_module_takes_by_itself_is_read(check: Check) -> None:
    limit = 131_072
    csv.field_size_limit(limit)  # its own, which a table that was read before has raised
    long = b"x" * (limit + 1)
    assert check(b"output,n\n1," + long + b"\n") == b"output,n,rule_pass,rule_violations\n1," + long + b",1,\n"
    assert check.problems == []


@pytest.mark.parametrize("delimiter", [b";", b"\t", b"|"])
def test_two_columns_are_enough_to_tell_what_parts_them(check: Check, delimiter: bytes) -> None:
    header = delimiter.join([b"id", b"output", b"rule_pass", b"rule_violations"])
    assert check(b"id%boutput\n1%b0\n" % (delimiter, delimiter)) == header + b"\n" + delimiter.join(
        [b"1", b"0", b"1", b"\n"]
    )


def test_every_flow_gets_its_own_columns(check: Check) -> None:
    written = check(b"output__a\toutput__b\tn\n1\tmaybe\tx\n\t0\ty\n", ".tsv")
    assert written == (
        b"output__a\toutput__b\tn\trule_pass__a\trule_violations__a\trule_pass__b\trule_violations__b\n"
        b"1\tmaybe\tx\t1\t\t0\tbinary,short\n"
        b"\t0\ty\t0\tbinary\t1\t\n"
    )
    counts = check.count().to_dict()
    assert counts == check.tally.to_dict()
    assert (counts["rows"], counts["total"], counts["pass_rate"]) == (2, 4, 0.5)
    assert counts["flows"]["b"]["rules"] == {"binary": {"count": 1, "share": 0.5}, "short": {"count": 1, "share": 0.5}}


@pytest.mark.parametrize(("suffix", "content"), [(".csv.gz", b"output\n1\n"), (".jsonl.gz", b'{"output": "1"}\n')])
def test_a_packed_table_is_written_packed(check: Check, suffix: str, content: bytes) -> None:
    written = gzip.decompress(check(gzip.compress(content), suffix))
    assert b"rule_pass" in written
    assert check.tally.overall.passed == 1
    assert check.tally.to_dict() == check.count().to_dict()


def test_jsonl_rows_keep_their_own_writing(check: Check) -> None:
    lines = [
        '{"output": "1", "x": 1.50, "y": "\\ud83d"}',
        '{"x": 1}',
        "not json",
        "[1]",
        '{"output": 1}',
        '{"output": "no", "rule_pass": 1}',
    ]
    assert check("\n".join(lines).encode(), ".jsonl").decode().splitlines() == [
        '{"output": "1", "x": 1.50, "y": "\\ud83d", "rule_pass": 1, "rule_violations": ""}',
        '{"x": 1, "rule_pass": null, "rule_violations": null}',
        "not json",
        "[1]",
        '{"output": 1, "rule_pass": null, "rule_violations": null}',
        '{"output": "no", "rule_pass": 0, "rule_violations": "binary"}',
    ]
    assert check.problems == [
        "2: has no 'output'",
        "3: is not JSON: Expecting value: line 1 column 1 (char 0)",
        "4: must be a JSON object, got '[1]'",
        "5: 'output' must be text, got 1",
    ]
    assert check.count().overall == check.tally.overall


@pytest.mark.parametrize(
    "line",
    [
        '{"output": "1", "x": 1e400}',
        '{"output": "1", "x": 0.1234567890123456789012345}',
        '{"output": "1", "x": 1.10}',
        '{"output": "1", "x": 1, "x": 2}',
        '{ "output":"1" ,"x" : [1.10, {"rule_pass": "}"}] }',
        '{"output": "1", "y": "\\ud83d"}',
    ],
)
def test_a_jsonl_row_checked_again_keeps_its_own_writing(check: Check, line: str) -> None:
    first = check(f"{line}\n".encode(), ".jsonl")
    again = check(first, ".jsonl")
    assert first.decode().rstrip().endswith(', "rule_pass": 1, "rule_violations": ""}')
    assert first.decode().rstrip().startswith(line[:-1].rstrip())
    assert again.replace(b" ", b"") == first.replace(b" ", b"")
    # columns of the same name that another tool put elsewhere give way too
    moved = check(b'{"rule_pass": 0, "output": "1", "x": 1.10, "rule_pass": 1}', ".jsonl")
    assert moved.decode() == '{"output": "1", "x": 1.10, "rule_pass": 1, "rule_violations": ""}\n'


def test_a_link_as_the_output_stays_a_link(check: Check, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_bytes(b"output\n1\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "table.csv")
    link = tmp_path / "link.csv"
    check_table(link, link, RULES, on_problem=check.on_problem, on_row=lambda rows, share: None)
    assert link.is_symlink()
    assert (tmp_path / "table.csv").read_bytes() == b"output,rule_pass,rule_violations\n1,1,\n"


def test_parquet_columns_that_python_cannot_hold_are_copied(check: Check, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="the extra `parquet` is not installed")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table(
        [
            pa.array(["1", "no"]),
            pa.array([1, None], pa.timestamp("ns")),
            pa.array([2**62, 5], pa.timestamp("us")),
            pa.array([2**62, 5], pa.duration("us")),
            pa.array([0, 5], pa.timestamp("us", tz="Nowhere/Land")),
            pa.array(["a", "b"]),
            pa.array(["c", "d"]),
        ],
        names=["output", "ns", "far", "long", "zone", "twice", "twice"],
    )
    pq.write_table(table, tmp_path / "table.parquet")
    check((tmp_path / "table.parquet").read_bytes(), ".parquet")
    written = pq.ParquetFile(check.outfile).read()
    assert [written.column(index) for index in range(7)] == [table.column(index) for index in range(7)]
    assert written["rule_pass"].to_pylist() == [1, 0]
    assert check.problems == []
    check((tmp_path / "table.parquet").read_bytes(), ".parquet", output_column="far")
    assert "1: 'far' holds a timestamp[us] that cannot be read" in check.problems[0]


def test_parquet_text_that_is_none_is_a_problem_of_its_row(check: Check, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="the extra `parquet` is not installed")
    pq = pytest.importorskip("pyarrow.parquet")
    offsets, text = pa.py_buffer(b"\0\0\0\0\1\0\0\0\3\0\0\0\4\0\0\0"), pa.py_buffer(b"1\xff\xfe0")
    bad = pa.StringArray.from_buffers(3, offsets, text)
    pq.write_table(pa.table({"output": bad}), tmp_path / "table.parquet")
    check((tmp_path / "table.parquet").read_bytes(), ".parquet")
    assert pq.read_table(check.outfile)["rule_pass"].to_pylist() == [1, None, 1]
    assert len(check.problems) == 1
    assert check.problems[0].startswith("2: 'output' holds a string that cannot be read")


def test_parquet_keeps_its_types_and_gains_nullable_columns(check: Check, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="the extra `parquet` is not installed")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table(
        {
            "output": ["1", None, "maybe"] * 1000,
            "n": pa.array([1, 2, None] * 1000, pa.int16()),
            "tags": pa.array([["a"], [], None] * 1000, pa.list_(pa.string())),
        }
    )
    pq.write_table(table, tmp_path / "table.parquet")
    check((tmp_path / "table.parquet").read_bytes(), ".parquet")
    written = pq.read_table(check.outfile)
    assert written.select(["output", "n", "tags"]).equals(table)
    assert written["rule_pass"].to_pylist() == [1, None, 0] * 1000
    assert written["rule_violations"].to_pylist() == ["", None, "binary,short"] * 1000
    assert check.problems[:2] == ["2: 'output' must be text, got None", "5: 'output' must be text, got None"]
    assert check.count().overall == check.tally.overall


def test_targets_are_columns(check: Check) -> None:
    rules = compile_rules(
        [
            {"id": "asked", "kind": "non_empty", "target": "query"},
            {"id": "tool", "kind": "allowed_values", "target": "metadata.tool", "allowed_values": ["search"]},
        ]
    )
    expected = b'output,query,tool,rule_pass,rule_violations\nx,why,search,1,\nx,,rm,0,"asked,tool"\n'
    assert check(b"output,query,tool\nx,why,search\nx,,rm\n", rules=rules) == expected
    nested = b'{"output": "x", "query": "why", "metadata": {"tool": "rm"}}\n'
    assert json.loads(check(nested, ".jsonl", rules))["rule_violations"] == "tool"
    with pytest.raises(
        ConfigError, match=r"target 'metadata.tool', but the table has no column 'metadata.tool' or 'tool'"
    ):
        check(b"output,query\nx,y\n", rules=rules)
    with pytest.raises(ConfigError, match=r"target 'query', but the table has no column 'query'$"):
        check(b"output,tool\nx,y\n", rules=rules)


def test_a_rule_that_cannot_be_decided_is_a_reported_failure_of_that_row(check: Check) -> None:
    text = b"a" * 5000 + b"b"
    written = check(b"output\naaa\n" + text + b"\nab\n", rules=PATHOLOGICAL)
    assert written.splitlines()[1:] == [b"aaa,1,", text + b",,", b"ab,0,runaway"]
    assert len(check.problems) == 1
    assert check.problems[0].startswith("3: rule 'runaway' did not finish: pattern '^(a+)+$' took more than 0.055 s")


@pytest.mark.parametrize(
    ("content", "ending", "options", "message"),
    [
        (b"", ".csv", {}, "is empty: a table needs a header"),
        (b"answer\n1\n", ".csv", {}, "has no column 'output' or 'output__<flow>'; its columns are 'answer'"),
        (b"output,output\n1,2\n", ".csv", {}, "'output' stands in the header more than once"),
        (b"output\n1\n", ".xlsx", {}, "must end in one of .csv, .tsv, .jsonl, .csv.gz, .tsv.gz, .jsonl.gz, .parquet"),
        (b"output\n1\n", ".csv", {"encoding": "nonsense"}, "unknown encoding 'nonsense'"),
        (b"output\n1\n", ".csv", {"encoding": "utf-16"}, "does not go with encoding 'utf-16'"),
        (b"x" * (tables.MAX_CHARS + 1), ".jsonl", {}, "is longer than 16777216 characters"),
        (b"not parquet", ".parquet", {}, "is not a parquet file"),
    ],
)
def test_a_table_that_cannot_be_used_leaves_no_output(
    check: Check, content: bytes, ending: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        check(content, ending, **options)
    assert message in str(caught.value)
    assert os.listdir(check.directory) == [f"in{ending}"]


def test_output_is_atomic_and_may_replace_the_input(check: Check, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_bytes(b"output\n1\n")

    def stop(rows: int, share: Callable[[], float]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check_table(table, table, RULES, on_problem=check.on_problem, on_row=stop)
    assert table.read_bytes() == b"output\n1\n"
    check_table(table, table, RULES, on_problem=check.on_problem, on_row=lambda rows, share: None)
    assert table.read_bytes() == b"output,rule_pass,rule_violations\n1,1,\n"
    assert os.listdir(tmp_path) == ["table.csv"]


def test_progress_comes_to_the_end_of_the_file(check: Check, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    with table.open("w", newline="") as stream:
        csv.writer(stream).writerows([["output"], *(["1"] for _ in range(50_000))])
    shares: list[float] = []

    def on_row(rows: int, share: Callable[[], float]) -> None:
        if rows % 5000 == 0:
            shares.append(share())

    check_table(table, table, RULES, on_problem=check.on_problem, on_row=on_row)
    assert shares == sorted(shares)
    assert len(set(shares)) > 5
    assert shares[-1] == 1.0


def test_shares_are_of_the_outputs_with_a_verdict(check: Check) -> None:
    check(b"output,n\nmaybe,x\n1,x\n1\n1\n")
    counts = check.tally.to_dict()
    assert (counts["total"], counts["unchecked"], counts["pass_rate"]) == (4, 2, 0.5)
    assert counts["rules"]["binary"] == {"count": 1, "share": 0.5}
    assert check.count().to_dict() == counts


def test_counting_needs_verdicts(check: Check) -> None:
    check(b"output\n1\n")
    check.outfile.write_bytes(b"output\n1\n")
    with pytest.raises(ConfigError, match="has no verdict in a column 'rule_pass'"):
        check.count()
    check.outfile.write_bytes(b"rule_pass,rule_violations\n1.0,\n0.0,short\n2,\n,\n")
    counts = check.count().overall
    assert (counts.passed, counts.failed, counts.unchecked) == (1, 1, 2)
    assert check.problems == ["4: rule_pass must be 1 or 0, got '2'"]
