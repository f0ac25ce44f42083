"""The page in headless Chromium: what people do with it, and what a rollout must not be able to do to it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from agentscope_tuner import show
from tests.with_browser.conftest import ROOT, Start, Watched, row, several, write

AXE = (ROOT / "web/node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")
HOSTILE = "\n".join(
    (
        "<script>window.ran = 1; alert(1)</script>",
        "</script><script>window.ran = 2</script><!--",
        "<img src=x onerror='window.ran = 3'><svg onload='window.ran=4'>",
        "[click](javascript:window.ran=5) javascript:window.ran=6 <a href='javascript:window.ran=7'>link</a>",
        "$\\href{javascript:window.ran=8}{x}$ $\\htmlData{a=b}{x}$ $\\includegraphics{http://127.0.0.1:9/x.png}$",
        "\\(\\def\\x{\\x\\x}\\x\\) $\\rule{99999em}{99999em}$ $\\url{javascript:window.ran=9}$",
        "\u202eright to left\u202c \u2066 \u200b \u0007 \ufeff",
        "half \ud83d pairs \udc00",
        "a line\u2028and a paragraph\u2029",
        "{{constructor.constructor('window.ran=10')()}} ${window.ran=11}",
        "</style><style>body { display: none }</style>",
    )
)


def report_of(scored: Path, *words: str) -> str:
    target = scored.with_suffix(".html")
    command = [
        sys.executable,
        "-c",
        "from agentscope_tuner.cli import main; main()",
        "report",
        str(scored),
        "-o",
        str(target),
    ]
    subprocess.run([*command, *words], check=True, capture_output=True, cwd=ROOT)
    return target.as_uri()


def opened(source: str, scored: Path, view: Start) -> str:
    return view(scored) if source == "view" else report_of(scored)


@pytest.mark.parametrize("source", ["view", "report"])
def test_a_hostile_rollout_shows_as_text_and_runs_nothing(
    source: str, tmp_path: Path, view: Start, watched: Watched
) -> None:
    long = "0123456789abcdef" * 65_536 + " the end of it"
    rows = [
        row(0, id=HOSTILE[:60], answer=HOSTILE, reason=HOSTILE, violations=[HOSTILE], task=HOSTILE),
        row(1, answer=long),
    ]
    rows[0]["task"]["main_query"] = HOSTILE
    rows[0]["task"]["init_messages"] = [{"role": "<b>user</b>", "content": HOSTILE}]
    rows[0]["judgement"]["metrics"] = {"part/<script>": 1.0, "<img src=x onerror=alert(1)>": 2.0}
    address = opened(source, write(tmp_path / "hostile.jsonl", rows), view)
    page = watched.page
    page.goto(f"{address}#/overview")
    expect(page.locator(".total b").first).to_have_text("2")
    page.goto(f"{address}#/rows")
    expect(page.locator(".sheet-row:not(.head)")).to_have_count(2)
    page.goto(f"{address}#/row/1")
    answer = page.locator(".block", has=page.get_by_role("heading", name="Answer")).locator(".said")
    expect(answer).to_contain_text("<script>window.ran = 1; alert(1)</script>")
    expect(answer).to_contain_text("<img src=x onerror='window.ran = 3'>")
    expect(answer).to_contain_text("javascript:window.ran=6")
    for code in ("U+202E", "U+2066", "U+200B", "U+0007", "U+D83D", "U+DC00", "U+2028"):
        expect(answer).to_contain_text(code)
    page.get_by_text("The row as JSON").click()
    expect(page.locator(".json")).to_contain_text("window.ran = 2")
    page.keyboard.press("g")
    expect(page.locator(".side-by-side .said").first).to_contain_text("window.ran = 1")
    page.goto(f"{address}#/row/2")
    expect(answer).to_contain_text("Show all 1,048,590 characters")
    page.get_by_role("button", name="Show all").click()
    expect(answer).to_contain_text("the end of it")
    assert page.evaluate("window.ran") is None
    assert page.evaluate("document.querySelectorAll('a, iframe, img, object, embed, form:not(.choices)').length") == 0
    home = address.split("?")[0].rsplit("/", 1)[0]
    assert [asked for asked in watched.asked if not asked.startswith((home, "data:", "blob:"))] == []


def test_names_of_rules_and_filters_show_what_hides_in_them(tmp_path: Path, view: Start, watched: Watched) -> None:
    rows = [row(n, violations=["too\u202egnol\u200b"], reason="ex\u202eact: 1") for n in range(3)]
    address = view(write(tmp_path / "names.jsonl", rows))
    page = watched.page
    page.goto(f"{address}#/overview")
    bar = page.locator(".bar-name", has_text="gnol")
    expect(bar).to_contain_text("tooU+202EgnolU+200B")
    bar.click()
    expect(page.locator(".filter b")).to_have_text("tooU+202EgnolU+200B")


def test_a_report_allows_no_inline_script_but_its_own(tmp_path: Path, context: BrowserContext) -> None:
    page = context.new_page()
    page.goto(report_of(write(tmp_path / "some.jsonl", several(3))))
    expect(page.locator(".total b").first).to_have_text("3")
    page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s);"
        " document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.ran=2\">'); }"
    )
    page.evaluate("() => new Promise((done) => setTimeout(done, 50))")
    assert page.evaluate("window.ran") is None


def test_what_an_llm_judge_was_asked_and_replied_is_shown(tmp_path: Path, view: Start, watched: Watched) -> None:
    rows = [row(0), row(1), row(2)]
    messages = [{"role": "system", "content": "Be strict."}, {"role": "user", "content": f"Score it: {HOSTILE}"}]
    rows[0]["judgement"]["calls"] = [
        {"model": "qwen-judge", "messages": messages, "reply": '{"score": 1, "reason": "the sum is right"}'},
        {"model": "<b>other</b>", "messages": messages[1:], "error": "no verdict within 30 s"},
    ]
    rows[2]["judgement"]["calls"] = [3, {"messages": "x", "reply": {"a": 1}}, None]
    scored = write(tmp_path / "run.jsonl", rows)
    page = watched.page
    for address in (view(scored), report_of(scored)):
        page.goto(f"{address}#/row/1")
        calls = page.locator(
            ".block", has=page.get_by_role("heading", name="What the LLM judge was asked, and replied")
        )
        for told in ("qwen-judge", "Be strict.", "<script>window.ran = 1", "the sum is right", "<b>other</b>", "30 s"):
            expect(calls).to_contain_text(told)
        page.keyboard.press("j")
        expect(page.locator(".story")).to_contain_text("What is 18 + 1?")
        expect(calls).to_have_count(0)
        page.keyboard.press("j")
        expect(calls).to_contain_text('{ "a": 1 }')
        page.goto(f"{address}#/rows?q=be+strict")
        expect(page.locator(".sheet-row:not(.head)")).to_have_count(1)
        assert page.evaluate("window.ran") is None


def test_formulas_are_typeset_and_the_last_box_is_marked(tmp_path: Path, view: Start, watched: Watched) -> None:
    rows = [
        row(0, answer="First \\boxed{1}, then $x^2$ and \\[\\frac{1}{2}\\] so \\boxed{\\frac{3}{4}}"),
        row(1, answer="It costs $5 and $6, or $7."),
        row(2, answer="\\boxed{25"),
    ]
    address = view(write(tmp_path / "math.jsonl", rows))
    page = watched.page
    page.goto(f"{address}#/row/1")
    expect(page.locator(".katex")).to_have_count(4)
    expect(page.locator("mark.box")).to_have_count(1)
    expect(page.locator("mark.box .mfrac")).to_have_count(1)
    page.keyboard.press("m")
    expect(page.locator(".katex")).to_have_count(0)
    expect(page.locator("mark.box")).to_have_text("\\boxed{\\frac{3}{4}}")
    page.keyboard.press("m")
    page.keyboard.press("j")
    expect(page.locator(".story")).to_contain_text("It costs $5 and $6, or $7.")
    page.keyboard.press("j")
    expect(page.locator(".story")).to_contain_text("\\boxed{25")
    expect(page.locator("mark.box")).to_have_count(0)


def test_a_growing_file_appears_within_two_seconds(tmp_path: Path, view: Start, watched: Watched) -> None:
    scored = tmp_path / "run.jsonl"
    address = view(scored)
    watched.page.goto(f"{address}#/rows")
    expect(watched.page.get_by_text("No rollout has been written yet.")).to_be_visible()
    partial = write(tmp_path / "run.jsonl.partial", several(5))
    expect(watched.page.locator(".sheet-row:not(.head)")).to_have_count(5)
    with open(partial, "a", encoding="utf-8") as stream:
        stream.write(json.dumps(row(90)) + "\n" + json.dumps(row(91))[:50])
    began = time.monotonic()
    expect(watched.page.get_by_role("button", name="r90")).to_be_visible()
    # what a bench measures closely (make bench-view) is bounded here, on a machine as busy as CI's
    assert time.monotonic() - began < 10
    partial.rename(scored)
    expect(watched.page.locator(".sheet-row:not(.head)")).to_have_count(6)


def test_labels_survive_a_restart(tmp_path: Path, view: Start, watched: Watched) -> None:
    scored = write(tmp_path / "run.jsonl", several(3))
    page = watched.page
    page.goto(f"{view(scored)}#/row/2")
    page.get_by_label("Remark").fill("the reference is <b>wrong</b>")
    page.get_by_role("button", name="unsure").click()
    expect(page.get_by_role("status")).to_have_text("Saved.")
    page.keyboard.press("j")
    expect(page.locator(".story")).to_contain_text("What is 18 + 2?")
    page.keyboard.press("1")
    expect(page.locator(".chip.label-right")).to_be_visible()
    view.stop()  # type: ignore[attr-defined]
    # the page goes on asking a server that is no more
    page.goto("about:blank")
    watched.wrong = [told for told in watched.wrong if "ERR_CONNECTION_REFUSED" not in told]
    written = [json.loads(line) for line in (tmp_path / "run.labels.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(line["id"], line["label"]) for line in written] == [("r1", "unsure"), ("r2", "right")]
    address = view(scored)
    page.goto(f"{address}#/row/2")
    expect(page.get_by_label("Remark")).to_have_value("the reference is <b>wrong</b>")
    page.goto(f"{address}#/rows?label=unsure")
    expect(page.locator(".sheet-row:not(.head)")).to_have_count(1)


@pytest.mark.parametrize("source", ["view", "report"])
def test_a_mark_is_a_filter_and_the_filter_is_in_the_address(
    source: str, tmp_path: Path, view: Start, watched: Watched
) -> None:
    address = opened(source, write(tmp_path / "run.jsonl", several(70)), view)
    page = watched.page
    page.goto(f"{address}#/overview")
    page.get_by_role("button", name="failed 10").first.click()
    expect(page.locator(".sheet-row:not(.head)")).to_have_count(10)
    assert "status=failed" in page.url
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator(".sheet-row:not(.head)")).to_have_count(10)
    page.goto(f"{address}#/rows?group=mixed&rule=too_long&sort=-reward&cols=id,reward,violations")
    expect(page.locator(".sheet-row.head .cell")).to_have_count(3)
    page.fill("#search", "WHAT IS 18 + 9?")
    expect(page.locator(".sheet-row:not(.head)")).to_have_count(1)
    page.get_by_role("button", name="Remove the filter rule").click()
    page.get_by_role("button", name="Remove the filter group").click()
    expect(page.locator(".sheet-row:not(.head)")).to_have_count(1)
    page.goto(f"{address}#/rows?reward=nonsense")
    expect(page.get_by_role("alert")).to_contain_text("must be a range")
    # the server's refusal is no fault of the page
    watched.wrong = [told for told in watched.wrong if "400 (Bad Request)" not in told]


QUERIES = [
    {},
    {"status": "judged"},
    {"q": "18 + 1"},
    {"group": "mixed"},
    {"reward": "0.1..1.05)"},
    {"part": "correct:1..1", "step": "2..5"},
    {"spread": "0.4.."},
    {"success": "no", "rule": "too_long"},
    {"prompts": "varies"},
    {"prompts": "never right", "step": "1.."},
    {"shape": "exact: …"},
]


def test_a_report_sums_up_as_the_server_does(tmp_path: Path, view: Start, watched: Watched) -> None:
    scored = write(tmp_path / "run.jsonl", [*several(140), row(7, id="r7"), {"id": 3}])
    page = watched.page
    page.goto(view(scored))
    expect(page.locator(".total b").first).to_have_text("142")
    ask = """async (queries) => {
        const token = new URLSearchParams(location.search).get("token");
        const headers = {"x-astuner-token": token}, found = [];
        for (const query of queries)
            for (const name of ["overview", "rows"])
                found.push(await (await fetch(`api/${name}?` + new URLSearchParams(query), {headers})).json());
        return found;
    }"""
    served = page.evaluate(ask, QUERIES)
    page.goto(report_of(scored))
    expect(page.locator(".total b").first).to_have_text("142")
    answer = """async (queries) => {
        const found = [];
        for (const query of queries) {
            found.push(await window.astunerSource.overview(query));
            found.push(await window.astunerSource.rows(query, "row", 0, 100));
        }
        return found;
    }"""
    reported = page.evaluate(answer, QUERIES)
    for place, (one, other) in enumerate(zip(served, reported, strict=True)):
        assert differences(plain(one), plain(other)) == [], QUERIES[place // 2]


def plain(answer: dict[str, Any]) -> dict[str, Any]:
    """What both say: a page of a report also carries the whole rows, and its version is its own."""
    rows = [{key: value for key, value in row.items() if key not in ("row", "boxed")} for row in answer.get("rows", [])]
    return {key: value for key, value in {**answer, "rows": rows}.items() if key != "version"}


def differences(one: Any, other: Any, where: str = "") -> list[str]:
    """Where two answers differ; numbers are equal to the ninth digit."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return [found for key in one for found in differences(one[key], other[key], f"{where}.{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [
            found
            for n, (a, b) in enumerate(zip(one, other, strict=True))
            for found in differences(a, b, f"{where}[{n}]")
        ]
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (one, other))
    same = abs(one - other) < 1e-9 if numbers else one == other
    return [] if same else [f"{where}: {one!r} here, {other!r} there"]


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(theme: str, width: int, tmp_path: Path, view: Start, watched: Watched) -> None:
    address = view(
        write(tmp_path / "run.jsonl", several(60)), "--compare", write(tmp_path / "before.jsonl", several(50))
    )
    page = watched.page
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 844})
    for place, ready in (
        ("overview", ".card"),
        ("rows", ".sheet-row .reward"),
        ("row/2", ".verdict"),
        ("group/2", ".side-by-side"),
    ):
        page.goto(f"{address}#/{place}")
        page.locator(ready).first.wait_for()
        assert page.evaluate("document.documentElement.dataset.theme") == theme
        assert serious(page) == [], place
        assert page.evaluate("document.documentElement.scrollWidth") <= width, place


def serious(page: Page) -> list[str]:
    page.evaluate(AXE)
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{rule['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for rule in found["violations"]
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"][:3]
    ]


def test_the_keyboard_reaches_everything(tmp_path: Path, view: Start, watched: Watched) -> None:
    address = view(write(tmp_path / "run.jsonl", several(12)))
    page = watched.page
    page.goto(f"{address}#/rows")
    expect(page.locator(".sheet-row:not(.head)")).to_have_count(12)
    page.keyboard.press("/")
    page.keyboard.type("what is 18 + 1")
    expect(page.locator(".sheet-row:not(.head)")).to_have_count(3)
    page.keyboard.press("Escape")
    page.locator(".sheet-row:not(.head) .link").nth(1).focus()
    page.keyboard.press("Enter")
    expect(page.locator(".story")).to_contain_text("What is 18 + 10?")
    page.keyboard.press("j")
    expect(page.locator(".story")).to_contain_text("What is 18 + 11?")
    page.keyboard.press("k")
    expect(page.locator(".story")).to_contain_text("What is 18 + 10?")
    page.keyboard.press("k")
    expect(page.locator(".story")).to_contain_text("What is 18 + 1?")
    page.keyboard.press("Escape")
    expect(page.locator(".sheet-row:not(.head)")).to_have_count(3)


def test_quick_presses_count_each_though_their_rows_are_still_on_their_way(
    tmp_path: Path, view: Start, watched: Watched
) -> None:
    address = view(write(tmp_path / "run.jsonl", several(12)))
    page = watched.page
    page.goto(f"{address}#/row/1?at=0")
    expect(page.locator(".story")).to_contain_text("What is 18 + 0?")
    # within one task of the browser: no row can arrive between two of them
    press = "document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}))"
    page.evaluate(f"(keys) => {{ for (const key of keys) {press}; }}", "jjjjj")
    expect(page.locator(".story")).to_contain_text("What is 18 + 5?")
    page.keyboard.type("kkj")
    expect(page.locator(".story")).to_contain_text("What is 18 + 4?")
    page.keyboard.type("j" * 30)
    expect(page.locator(".story")).to_contain_text("What is 18 + 11?")
    page.keyboard.type("k" * 30)
    expect(page.locator(".story")).to_contain_text("What is 18 + 0?")


def test_it_speaks_chinese(tmp_path: Path, view: Start, browser: Any) -> None:
    context = browser.new_context(locale="zh-CN")
    page = context.new_page()
    page.goto(view(write(tmp_path / "run.jsonl", several(5))))
    expect(page.get_by_role("button", name="总览")).to_be_visible()
    assert page.evaluate("document.documentElement.lang") == "zh-CN"
    page.get_by_role("button", name="English").click()
    expect(page.get_by_role("button", name="Overview")).to_be_visible()
    context.close()


def test_alarms_stand_on_the_time_axis(tmp_path: Path, view: Start, watched: Watched) -> None:
    scored = write(tmp_path / "run.jsonl", several(60))
    alarms = [{"step": 3, "monitor": "length drift", "message": "answers grow <b>"}, {"monitor": "x"}]
    write(tmp_path / "run.alarms.jsonl", alarms)
    watched.page.goto(view(scored))
    expect(watched.page.locator(".alarms")).to_contain_text("answers grow <b>")
    watched.page.get_by_role("button", name="step 3").click()
    expect(watched.page.locator(".sheet-row:not(.head)")).to_have_count(10)


def test_a_row_is_judged_again_stage_by_stage(tmp_path: Path, view: Start, watched: Watched) -> None:
    address = view(write(tmp_path / "run.jsonl", several(3)), "--conf", "configs/math.yaml")
    watched.page.goto(f"{address}#/row/2")
    watched.page.get_by_role("button", name="Explain").click()
    expect(watched.page.locator(".explained")).to_contain_text("exact: 19 = 19")


def test_another_run_is_laid_over_and_named(tmp_path: Path, view: Start, watched: Watched) -> None:
    scored, other = write(tmp_path / "a.jsonl", several(60)), write(tmp_path / "b\u202e.jsonl", several(40))
    page = watched.page
    for address in (view(scored, other), report_of(scored, str(other))):
        page.goto(address)
        expect(page.locator(".u-legend").first).to_contain_text("bU+202E.jsonl")
        expect(page.locator(".card.wide table.small tbody tr")).to_have_count(2)
        expect(page.locator(".card.wide table.small tbody tr").last).to_contain_text("40")


def test_a_group_tells_advantages_and_differences_and_its_task_leads_to_its_steps(
    tmp_path: Path, view: Start, watched: Watched
) -> None:
    rows = [row(n, reward=float(n % 2), answer=f"so {n} is the end", id=f"s{n}") for n in range(4)]
    for one in rows:
        one["task"]["task_id"] = "t"
        one["step"] = 3
    page = watched.page
    page.goto(f"{view(write(tmp_path / 'run.jsonl', rows))}#/group/1")
    cards = page.locator(".side-by-side li")
    expect(cards).to_have_count(4)
    expect(cards.nth(0)).to_contain_text("advantage -1.00")
    expect(cards.nth(1)).to_contain_text("advantage +1.00")
    page.get_by_role("button", name="Differences from this rollout").click()
    expect(cards.nth(1).locator("del")).to_have_text("0")
    expect(cards.nth(1).locator("ins")).to_have_text("1")
    page.get_by_role("button", name="t", exact=True).click()
    page.wait_for_url("**#/overview?task=t")


def test_the_rows_of_a_filter_are_exported_and_a_spreadsheet_runs_none_of_them(
    tmp_path: Path, view: Start, watched: Watched
) -> None:
    rows = [
        row(0, reward=1.0, answer='=HYPERLINK("http://127.0.0.1")', id="a"),
        row(1, reward=0.0, answer="-5", id="b"),
    ]
    page = watched.page
    page.goto(f"{view(write(tmp_path / 'run.jsonl', rows))}#/rows?success=yes")
    page.get_by_text("Export", exact=True).click()
    for kind in ("CSV", "JSONL"):
        with page.expect_download() as found:
            page.get_by_role("button", name=kind, exact=True).click()
        said = Path(found.value.path()).read_bytes().decode()
        if kind == "CSV":
            assert said.startswith("id,task,step,status,reward,success,reason,question,answer,reference\r\na,")
            assert '"\'=HYPERLINK(""http://127.0.0.1"")"' in said
            assert said.count("\r\n") == 2
        else:
            assert [json.loads(line)["id"] for line in said.splitlines()] == ["a"]


def test_the_failing_test_of_a_program_is_shown(tmp_path: Path, view: Start, watched: Watched) -> None:
    one = row(0, reward=0.0, id="a")
    one["task"]["metadata"] = {"tests": json.dumps({"inputs": ["1 2", "<b>3 4</b>"], "outputs": ["3", "7"]})}
    one["judgement"]["reason"] = "1 of 2 tests pass; test 2: line 1 has '8'"
    page = watched.page
    page.goto(f"{view(write(tmp_path / 'run.jsonl', [one]))}#/row/1")
    block = page.locator(".block", has=page.get_by_role("heading", name="The failing test 2"))
    expect(block).to_contain_text("<b>3 4</b>")
    expect(block).to_contain_text("7")


def test_a_server_that_is_gone_is_said(tmp_path: Path, view: Start, context: BrowserContext) -> None:
    page = context.new_page()
    page.goto(view(write(tmp_path / "run.jsonl", several(3))))
    expect(page.locator(".total b").first).to_have_text("3")
    context.set_offline(True)
    expect(page.get_by_role("alert").first).to_contain_text("The server does not answer any more")


def test_a_phone_shows_the_answer_first(tmp_path: Path, view: Start, watched: Watched) -> None:
    page = watched.page
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{view(write(tmp_path / 'run.jsonl', several(3)))}#/row/1")
    tops = [page.locator(name).first.bounding_box() for name in (".answer-block", ".judged-card", ".turns")]
    heights = [box["y"] for box in tops if box is not None]
    assert len(heights) == 3
    assert heights == sorted(heights)


def test_a_phones_list_does_not_scroll_sideways(tmp_path: Path, view: Start, watched: Watched) -> None:
    page = watched.page
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{view(write(tmp_path / 'run.jsonl', several(30)))}#/rows")
    page.locator(".sheet-row .reward").first.wait_for()
    assert page.locator(".sheet").evaluate("sheet => sheet.scrollWidth - sheet.clientWidth") == 0


def test_names_without_a_space_do_not_widen_a_phones_page(tmp_path: Path, view: Start, watched: Watched) -> None:
    name = "search" * 20
    call = {"id": "1", "type": "function", "function": {"name": name, "arguments": "{}"}}
    rows = several(12)
    for step, each in enumerate(rows):
        each["step"] = step
        each["judgement"] |= {"violations": [name], "metrics": {f"part/{name}{number}": -2.625 for number in range(9)}}
        each["output"]["metadata"]["messages"] = [{"role": "assistant", "content": "", "tool_calls": [call]}]
        each["id"], each["task"]["task_id"] = f"id-{name}{step}", f"{name}{step // 4}"
    page, address = watched.page, view(write(tmp_path / "long.jsonl", rows))
    page.set_viewport_size({"width": 390, "height": 844})
    for place, shown in (("overview", ".u-label"), ("row/1", ".call"), ("group/1", ".side-by-side")):
        page.goto(f"{address}#/{place}")
        page.locator(shown).first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, place


def test_the_names_of_large_rewards_do_not_run_into_each_other(tmp_path: Path, view: Start, watched: Watched) -> None:
    rows = [row(n, reward=(n - 4) * 123_456_789.0) for n in range(40)]
    watched.page.goto(view(write(tmp_path / "large.jsonl", rows)))
    names = watched.page.locator(".columns").first.locator(".column-name > span:not(.unseen)")
    expect(names.first).to_have_text("-490M")
    places = [names.nth(at).bounding_box() for at in range(names.count())]
    ends = [place["x"] + place["width"] for place in places if place]
    assert all(place and place["x"] >= end for place, end in zip(places[1:], ends, strict=False))


def test_a_list_that_holds_nothing_says_so_where_it_stands(tmp_path: Path, view: Start, watched: Watched) -> None:
    watched.page.goto(f"{view(write(tmp_path / 'run.jsonl', several(9)))}#/rows?q=nowhere")
    expect(watched.page.get_by_text("No rollout passes these filters.")).to_be_visible()
    assert watched.page.locator(".sheet").evaluate("sheet => sheet.clientHeight") < 100


def test_the_page_works_inside_a_notebook(tmp_path: Path, watched: Watched) -> None:
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><meta charset=utf-8>{show(several(12))._repr_html_()}", encoding="utf-8")
    watched.page.goto(path.as_uri())
    frame = watched.page.frame_locator("iframe")
    expect(frame.locator(".total b").first).to_have_text("12")
    frame.get_by_role("button", name="Rollouts").first.click()
    frame.locator(".sheet-row:not(.head)").nth(2).click()
    expect(frame.locator(".answer-block")).to_contain_text("We add")
