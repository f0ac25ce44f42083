// Answers the page's questions from the rows in a report's own file, as the server answers them for `astuner view`.
import { type Group, groupKey, tests } from "./filters";
import { overviewOf } from "./sums";
import type { Alarm, Explained, Fields, Filters, Json, Overview, Page, Run, Source, State, WholeGroup, WholeRow } from "./types";

interface Embedded {
  name: string;
  rows: (Fields & { boxed: string | null; row: string })[];
  of: number;
  every: number;
  earlier: string | null;
  alarms: Alarm[];
  runs: Run[];
}

// The same numbers and order as in agentscope_tuner/view/listing.py
const MOST_OF_A_GROUP = 64;
const CHANGE_ORDER: Record<string, number> = { lost: 0, gained: 1, failed: 2, same: 9 };

export class Report implements Source {
  private readonly groups = new Map<string, Group>();
  private readonly prompts = new Map<string, Group>();
  private readonly places = new Map<number, number>();
  private readonly texts: string[] = [];

  private constructor(private readonly data: Embedded) {
    data.rows.forEach((row, place) => {
      this.places.set(row.n, place);
      if (row.task) {
        count(this.groups, groupKey(row), row);
        count(this.prompts, row.task, row);
      }
    });
  }

  /** Unpacks the rows that `astuner report` wrote into the page. */
  static async of(element: Element): Promise<Report> {
    const packed = Uint8Array.from(atob(element.textContent ?? ""), (char) => char.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Report(JSON.parse(await new Response(stream).text()));
  }

  private holds = (row: Fields, words: string): boolean => {
    const place = this.places.get(row.n)!;
    this.texts[place] ??= textsOf(JSON.parse(this.data.rows[place].row)).join("\n").toLowerCase();
    return this.texts[place].includes(words);
  };

  private picked(filters: Filters): Fields[] {
    const all = tests(filters, this.groups, this.prompts, this.holds);
    return this.data.rows.filter((row) => all.every((test) => test(row)));
  }

  async state(): Promise<State> {
    const { name, of, every, earlier, rows } = this.data;
    return {
      name, earlier, epoch: 0, version: 1, rows: rows.length, reading: null, labels: null, explain: false, report: { of, every },
    };
  }

  async rows(filters: Filters, sort: string, offset: number, limit: number): Promise<Page> {
    const found = this.picked(filters);
    const down = sort.startsWith("-");
    const name = down ? sort.slice(1) : sort;
    const value = (row: Fields): string | number | null =>
      name === "row" ? row.n
      : name === "change" ? (CHANGE_ORDER[row.change ?? ""] ?? 3)
      : (row[name as keyof Fields] as string | number | null);
    found.sort((a, b) => compare(value(a), value(b)) * (down ? -1 : 1) || a.n - b.n);
    return { version: 1, total: found.length, rows: found.slice(offset, offset + limit) };
  }

  private whole(row: Embedded["rows"][number]): WholeRow {
    return { ...row, row: JSON.parse(row.row) as Json };
  }

  async row(n: number): Promise<WholeRow> {
    const place = this.places.get(n);
    if (place === undefined) throw new Error("there is no such row in this report");
    return this.whole(this.data.rows[place]);
  }

  async group(n: number): Promise<WholeGroup> {
    const one = await this.row(n);
    const all = this.data.rows.filter((row) => row.n === n || (one.task && groupKey(row) === groupKey(one)));
    const nearest = [...all].sort((a, b) => Math.abs(a.n - n) - Math.abs(b.n - n)).slice(0, MOST_OF_A_GROUP);
    return { rows: nearest.sort((a, b) => a.n - b.n).map((row) => this.whole(row)), size: all.length };
  }

  async overview(filters: Filters): Promise<Overview> {
    const rows = this.picked(filters);
    const met = new Set(rows.filter((row) => row.task).map(groupKey));
    const tasks = new Set(rows.map((row) => row.task));
    const groups = [...this.groups].filter(([key]) => met.has(key)).map(([, group]) => group);
    const prompts = [...this.prompts].filter(([task]) => tasks.has(task)).map(([, group]) => group);
    // The report holds the other runs' curves over all their rows
    const runs = Object.keys(filters).length ? [] : this.data.runs;
    return { ...overviewOf(rows, groups, prompts), alarms: this.data.alarms, runs };
  }

  async lines(filters: Filters): Promise<string> {
    return this.picked(filters).map((row) => `${(row as Embedded["rows"][number]).row}\n`).join("");
  }

  async label(): Promise<void> {
    throw new Error("a report keeps no labels: open the file with astuner view");
  }

  async explain(): Promise<Explained> {
    throw new Error("a report judges nothing: open the file with astuner view --conf");
  }
}

function count(groups: Map<string, Group>, key: string, row: Fields): void {
  let g = groups.get(key);
  if (!g) {
    g = { size: 0, failed: 0, filtered: 0, successes: 0, wrong: 0, lowest: Infinity, highest: -Infinity, total: 0, squares: 0 };
    groups.set(key, g);
  }
  const reward = row.reward ?? 0;
  g.size += 1;
  g.failed += Number(row.status === "failed" || row.status === "unreadable");
  g.filtered += Number(row.status === "filtered");
  const told = typeof row.success === "boolean";
  g.successes += Number(told ? row.success : row.reward !== null && Math.abs(row.reward - 1) <= 1e-9);
  g.wrong += Number(told ? !row.success : row.reward !== null && row.reward <= 1e-9);
  if (row.reward !== null) {
    g.lowest = Math.min(g.lowest, reward);
    g.highest = Math.max(g.highest, reward);
  }
  g.total += reward;
  g.squares += reward * reward;
}

function compare(a: string | number | null, b: string | number | null): number {
  // Null comes first, as in SQLite's order
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  return a < b ? -1 : 1;
}

function textsOf(value: Json): string[] {
  const found: string[] = [];
  const waiting: Json[] = [value];
  while (waiting.length) {
    const item = waiting.pop()!;
    if (typeof item === "string") found.push(item);
    else if (typeof item === "number") found.push(`${item}`);
    else if (item && typeof item === "object") {
      const inside = Array.isArray(item) ? item : Object.values(item);
      for (let i = inside.length - 1; i >= 0; i--) waiting.push(inside[i]);
    }
  }
  return found;
}

