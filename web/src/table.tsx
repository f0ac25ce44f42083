// The table of rows. It asks for pages of rows, and only the visible rows are in the document.
import { Virtualizer, elementScroll, observeElementOffset, observeElementRect } from "@tanstack/virtual-core";
import { useEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import { short, time } from "./numbers";
import { Visible } from "./text";
import type { Fields, Filters, Page, Source } from "./types";
import { dict, words } from "./turns";
import { useNamed, useWords, type Word } from "./words";

const PAGE = 100;
const HEIGHT = 38;
const MOST_PAGES = 60;

interface Column {
  key: string;
  width: string;
  phone?: string;
  sort?: string;
  show: (row: Fields) => preact.ComponentChildren;
}

export function Chip({ status }: { status: string }) {
  const named = useNamed();
  return <span class={`chip ${status}`}>{named(status)}</span>;
}

export function Verdict({ row }: { row: Fields }) {
  if (row.reward === null) return <Chip status={row.status} />;
  const tone = row.status === "filtered" ? "filtered" : row.success ? "yes" : row.success === false ? "no" : "";
  return <span class={`reward ${tone}`}>{row.success ? "✓" : row.success === false ? "✗" : ""} {short(row.reward)}</span>;
}

const COLUMNS: Column[] = [
  { key: "row", width: "64px", sort: "row", show: (row) => row.n },
  { key: "id", width: "minmax(110px, 1fr)", phone: "minmax(0, 2fr)", sort: "id", show: (row) => <Visible text={row.id || `#${row.n}`} /> },
  { key: "step", width: "64px", sort: "step", show: (row) => short(row.step) },
  { key: "change", width: "96px", sort: "change", show: (row) => <Changed row={row} /> },
  { key: "reward", width: "96px", phone: "88px", sort: "reward", show: (row) => <Verdict row={row} /> },
  { key: "status", width: "92px", sort: "status", show: (row) => <Chip status={row.status} /> },
  { key: "reason", width: "minmax(160px, 2fr)", phone: "minmax(0, 3fr)", show: (row) => <Visible text={row.problem || row.reason} /> },
  { key: "prompt", width: "minmax(160px, 2fr)", show: (row) => <Visible text={row.prompt} /> },
  { key: "answer", width: "minmax(140px, 2fr)", show: (row) => <span class="ending"><Visible text={row.answer} /></span> },
  { key: "reference", width: "minmax(80px, 1fr)", show: (row) => <Visible text={row.reference} /> },
  { key: "task", width: "minmax(90px, 1fr)", sort: "task", show: (row) => <Visible text={row.task} /> },
  { key: "stage", width: "100px", sort: "stage", show: (row) => <Visible text={row.stage} /> },
  { key: "cause", width: "100px", sort: "cause", show: (row) => <Visible text={row.cause ?? ""} /> },
  { key: "violations", width: "120px", show: (row) => <Visible text={row.violations.join(", ")} /> },
  { key: "chars", width: "76px", sort: "chars", show: (row) => short(row.chars) },
  { key: "seconds", width: "84px", sort: "seconds", show: (row) => time(row.seconds) },
  { key: "cost", width: "80px", sort: "cost", show: (row) => short(row.cost) },
  { key: "parts", width: "minmax(120px, 1fr)", show: (row) => <Visible text={Object.entries(row.parts).map(([name, value]) => `${name} ${short(value)}`).join(" · ")} /> },
  { key: "label", width: "84px", show: (row) => <Label row={row} /> },
  { key: "remark", width: "minmax(100px, 1fr)", show: (row) => <Visible text={row.remark} /> },
];
const USUAL = ["id", "reward", "reason", "prompt", "answer", "reference"];
const ON_A_PHONE = ["id", "reward", "reason"];

function Changed({ row }: { row: Fields }) {
  const named = useNamed();
  if (!row.change || row.change === "same") return <span class="faint">{row.change ? "=" : ""}</span>;
  return <span class={`chip ${row.change}`}>{named(row.change)}</span>;
}

function Label({ row }: { row: Fields }) {
  const say = useWords();
  return row.label ? <span class={`chip label-${row.label}`}>{say(row.label as Word)}</span> : null;
}

function useNarrow(): boolean {
  const query = useMemo(() => matchMedia("(max-width: 640px)"), []);
  const [narrow, setNarrow] = useState(query.matches);
  useEffect(() => {
    const changed = () => setNarrow(query.matches);
    query.addEventListener("change", changed);
    return () => query.removeEventListener("change", changed);
  }, []);
  return narrow;
}

/** The columns that fit the rows, used if the address names none. */
function columnsFor(asked: string[] | null, narrow: boolean, first: Fields | undefined, comparing: boolean): Column[] {
  const usual = narrow ? [...ON_A_PHONE] : [...USUAL];
  if (!narrow && first && first.step !== null) usual.splice(1, 0, "step");
  if (comparing) usual.splice(1, 0, "change");
  const keys = asked ?? usual;
  return COLUMNS.filter((column) => keys.includes(column.key));
}

export function RowsPage({ source, filters, sort, columns, version, epoch, comparing, open, setSort, setColumns, onTotal }: {
  source: Source; filters: Filters; sort: string; columns: string[] | null; version: number; epoch: number; comparing: boolean;
  open: (row: Fields, at: number) => void; setSort: (sort: string) => void; setColumns: (columns: string[] | null) => void;
  onTotal: (total: number) => void;
}) {
  const say = useWords();
  const narrow = useNarrow();
  const order = sort || (comparing ? "change" : "row");
  const { key, rowAt, total, problem, want } = usePages(source, filters, order, version, epoch);
  useEffect(() => onTotal(total ?? 0), [total]);
  const shown = columnsFor(columns, narrow, rowAt(0), comparing);
  // A phone's own columns share its width; more of them, which somebody has asked for, scroll sideways
  const phone = narrow && !columns;
  const template = { gridTemplateColumns: shown.map((column) => (phone && column.phone) || column.width).join(" ") };
  if (problem) return <p class="problem" role="alert">{problem}</p>;
  const none = total === 0;
  return (
    <>
      <div class="above-sheet">
        <ColumnChoice shown={shown.map((column) => column.key)} set={setColumns} />
        <Export source={source} filters={filters} />
      </div>
      <Sheet list={key} total={total ?? 0} want={want} label={say("rows")} columns={shown.length}
        head={
          <div class="sheet-row head" role="row" aria-rowindex={1} style={template}>
            {shown.map((column) => <Head key={column.key} column={column} order={order} setSort={setSort} />)}
          </div>
        }
        line={(at) => {
          const row = rowAt(at);
          return (
            <div class={`sheet-row${at % 2 ? " odd" : ""}`} role="row" aria-rowindex={at + 2} style={template}
              onClick={row ? () => open(row, at) : undefined}>
              {shown.map((column, place) => (
                <div role="cell" class={`cell ${column.key}`} key={column.key}>
                  {!row ? "…" : place === 0 || column.key === "id" ? (
                    <button type="button" class="link" onClick={(event) => (event.stopPropagation(), open(row, at))}>{column.show(row)}</button>
                  ) : column.show(row)}
                </div>
              ))}
            </div>
          );
        }} />
      {none && <p class="faint">{say(Object.keys(filters).length ? "noRows" : "noneYet")}</p>}
    </>
  );
}

function Head({ column, order, setSort }: { column: Column; order: string; setSort: (sort: string) => void }) {
  const say = useWords();
  const name = say(column.key as Word);
  const on = order.replace(/^-/, "") === column.sort;
  const down = order.startsWith("-");
  if (!column.sort) return <div role="columnheader" class="cell">{name}</div>;
  return (
    <div role="columnheader" class="cell" aria-sort={on ? (down ? "descending" : "ascending") : "none"}>
      <button type="button" class="sort" title={say("sortBy", { name })}
        onClick={() => setSort(on && !down ? `-${column.sort}` : column.sort!)}>
        {name}{on ? (down ? " ▾" : " ▴") : ""}
      </button>
    </div>
  );
}

function ColumnChoice({ shown, set }: { shown: string[]; set: (columns: string[] | null) => void }) {
  const say = useWords();
  const change = (key: string) => {
    const next = shown.includes(key) ? shown.filter((other) => other !== key) : [...shown, key];
    set(next.length ? next : null);
  };
  return (
    <details class="choice">
      <summary>{say("columns")}</summary>
      <div class="choices">
        {COLUMNS.map(({ key }) => (
          <label key={key}>
            <input type="checkbox" checked={shown.includes(key)} onChange={() => change(key)} /> {say(key as Word)}
          </label>
        ))}
      </div>
    </details>
  );
}

/** A cell of CSV. A spreadsheet runs what begins with a sign of a formula, so such a text gets an apostrophe. */
function csvCell(text: string): string {
  const safe = /^[=+@\t\r]|^-(?![\d.]+$)/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** JSON lines as CSV: a line a rollout. */
export function csvOf(lines: string): string {
  const head = ["id", "task", "step", "status", "reward", "success", "reason", "question", "answer", "reference"];
  const made = lines.split("\n").filter(Boolean).map((line) => {
    let row = {};
    try {
      row = dict(JSON.parse(line));
    } catch {
      // A line that holds no row stands as an empty one, so that the count is right
    }
    const { id, task, output, judgement, step } = row as Parameters<typeof dict>[0] & { [key: string]: never };
    const [given, said, verdict] = [dict(dict(task).metadata), dict(dict(output).metadata), dict(judgement)];
    const reference = given.answer ?? given.ground_truth ?? given.reference ?? given.target;
    const cells = [id, dict(task).task_id, step ?? said.step ?? given.step, verdict.status, verdict.reward, verdict.is_success, verdict.reason, dict(task).main_query, said.final_answer, reference];
    return cells.map((cell) => csvCell(words(cell))).join(",");
  });
  return [head.join(","), ...made].join("\r\n") + "\r\n";
}

function Export({ source, filters }: { source: Source; filters: Filters }) {
  const say = useWords();
  const [problem, setProblem] = useState("");
  const save = (kind: "jsonl" | "csv") =>
    source.lines(filters).then(
      (lines) => {
        const link = document.createElement("a");
        link.href = URL.createObjectURL(new Blob([kind === "csv" ? csvOf(lines) : lines]));
        link.download = `rows.${kind}`;
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
        setProblem("");
      },
      (error) => setProblem(String(error.message ?? error)),
    );
  return (
    <details class="choice">
      <summary>{say("export")}</summary>
      <div class="choices">
        <p class="help">{say("exportHelp")}</p>
        <div class="choices-row"><button type="button" onClick={() => save("jsonl")}>JSONL</button><button type="button" onClick={() => save("csv")}>CSV</button></div>
        {problem && <p class="problem" role="alert">{problem}</p>}
      </div>
    </details>
  );
}

/** Rows of one height; only the visible rows are drawn. */
function Sheet({ list, total, want, head, line, label, columns }: {
  list: string; total: number; want: (first: number, last: number) => void; head: preact.ComponentChildren;
  line: (at: number) => preact.ComponentChildren; label: string; columns: number;
}) {
  const place = useRef<HTMLDivElement>(null);
  const [, redraw] = useReducer((count: number, _: void) => count + 1, 0);
  const options = {
    count: total, getScrollElement: () => place.current, estimateSize: () => HEIGHT, overscan: 12, paddingStart: HEIGHT,
    scrollToFn: elementScroll, observeElementRect, observeElementOffset, onChange: () => redraw(),
  };
  const [virtual] = useState(() => new Virtualizer<HTMLDivElement, Element>(options));
  virtual.setOptions(options);
  useEffect(() => virtual._didMount(), []);
  useEffect(() => virtual._willUpdate());
  const items = virtual.getVirtualItems();
  const [first, last] = items.length ? [items[0].index, items[items.length - 1].index] : [0, 0];
  useEffect(() => want(first, last), [first, last, total]);
  useEffect(() => {
    if (place.current) place.current.scrollTop = 0;
  }, [list]);
  return (
    <div class="sheet" ref={place} role="table" aria-label={label} aria-rowcount={total + 1} aria-colcount={columns} tabIndex={0}>
      <div class="sheet-body" role="rowgroup" style={{ height: `${virtual.getTotalSize()}px` }}>
        {head}
        {items.map((item) => (
          <div key={item.key} role="presentation" class="sheet-place" style={{ transform: `translateY(${item.start}px)` }}>
            {line(item.index)}
          </div>
        ))}
      </div>
    </div>
  );
}

/** Pages of rows, kept until the filters or the order change. */
function usePages(source: Source, filters: Filters, order: string, version: number, epoch: number) {
  const key = JSON.stringify([filters, order, epoch]);
  const store = useRef({ key: "", version: -1, pages: new Map<number, Page>(), asked: new Set<number>(), total: null as number | null, problem: "", stale: false });
  const [, redraw] = useReducer((count: number, _: void) => count + 1, 0);
  const range = useRef([0, 0]);
  const fresh = store.current.key !== key;
  if (fresh) {
    // Keep the old rows until the first page of the new list has arrived: a table that blinks is hard to read
    const { pages, total } = store.current;
    store.current = { key, version, pages, asked: new Set(), total, problem: "", stale: true };
    range.current = [0, 0];
  }
  const load = (page: number) => {
    const now = store.current;
    if (now.asked.has(page)) return;
    now.asked.add(page);
    source.rows(filters, order, page * PAGE, PAGE).then(
      (found) => {
        if (store.current !== now) return;
        if (now.stale) now.pages = new Map();
        now.stale = false;
        now.pages.set(page, found);
        if (now.pages.size > MOST_PAGES) {
          const [oldest] = now.pages.keys();
          now.pages.delete(oldest);
          now.asked.delete(oldest);
        }
        now.total = found.total;
        now.problem = "";
        redraw();
      },
      (error) => {
        if (store.current !== now) return;
        now.problem = String(error.message ?? error);
        redraw();
      },
    );
  };
  const want = (first: number, last: number) => {
    range.current = [first, last];
    for (let page = Math.floor(first / PAGE); page <= Math.floor(last / PAGE); page++) load(page);
  };
  useEffect(() => {
    const now = store.current;
    if (!fresh && now.version !== version) {
      // The file has grown: ask again for the visible rows
      store.current = { ...now, version, asked: new Set() };
    }
    want(...(range.current as [number, number]));
  }, [key, version]);
  return {
    key,
    rowAt: (at: number): Fields | undefined => store.current.pages.get(Math.floor(at / PAGE))?.rows[at % PAGE],
    total: store.current.total,
    problem: store.current.problem,
    want,
  };
}
