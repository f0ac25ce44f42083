// The types of the server's answers, which a report holds, too (agentscope_tuner/view/listing.py, overview.py).

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Filters = Record<string, string>;

export interface Fields {
  n: number;
  id: string;
  nth: number;
  task: string;
  step: number | null;
  status: string;
  reward: number | null;
  success: boolean | null;
  stage: string;
  /** The reason of a row that is no success, without what differs from row to row. */
  shape: string;
  cause: string | null;
  seconds: number | null;
  cost: number | null;
  chars: number;
  prompt: string;
  answer: string;
  reference: string;
  reason: string;
  problem: string;
  violations: string[];
  parts: Record<string, number>;
  label: string | null;
  remark: string;
  change: string | null;
  other_status: string | null;
  other_reward: number | null;
  other_success: number | null;
}

export interface WholeRow extends Fields {
  row: Json;
  boxed: string | null;
  earlier?: WholeRow;
}

/** All rows of one task and step, or of a large group the rows around the requested row. */
export interface WholeGroup {
  rows: WholeRow[];
  size: number;
}

export interface Page {
  version: number;
  total: number;
  rows: Fields[];
}

export interface State {
  name: string;
  epoch: number;
  version: number;
  rows: number;
  /** The share of the file that has been read; null once the whole file has been read. */
  reading: number | null;
  labels: string | null;
  earlier: string | null;
  explain: boolean;
  report: { of: number; every: number } | null;
}

export interface Bar {
  name?: string | null;
  value?: number;
  /** "<" or "≥": the bin takes what lies beyond it, too. */
  end?: string;
  rows: number;
  filter?: string;
  success?: number | null;
  seconds?: number | null;
  total_seconds?: number | null;
  cost?: number | null;
}

export interface Bin {
  value: number;
  filter: string;
}

export interface Point {
  x: number;
  rows: number;
  reward: number | null;
  spread: number | null;
  lowest: number | null;
  highest: number | null;
  success: number | null;
  failed: number;
  filtered: number;
  chars: number;
  filter: string;
}

export interface Part {
  name: string;
  rows: number;
  mean: number;
  lowest: number;
  highest: number;
  points: { x: number; mean: number }[];
}

export interface Alarm {
  step: number | null;
  monitor: string;
  message: string;
}

export interface Totals {
  rows: number;
  judged: number | null;
  filtered: number | null;
  failed: number | null;
  unreadable: number | null;
  reward: number | null;
  success: number | null;
  lowest: number | null;
  highest: number | null;
  seconds: number;
  cost: number | null;
  chars: number | null;
  longest: number | null;
  first_step: number | null;
  last_step: number | null;
  steps: number;
  first_row: number | null;
  last_row: number | null;
}

export interface Axis {
  name: "step" | "row";
  column: "step" | "n";
  first: number;
  width: number;
  exact: boolean;
}

/** Another run, laid over the one that is shown. */
export interface Run {
  name: string;
  totals: Totals;
  axis: Axis["name"];
  points: Point[];
}

export interface Overview {
  totals: Totals;
  axis: Axis;
  points: Point[];
  parts: Part[];
  rewards: Bar[];
  statuses: Bar[];
  causes: Bar[];
  stages: Bar[];
  rules: Bar[];
  shapes: Bar[];
  groups: Bar[];
  prompts: Bar[];
  spreads: Bar[];
  lengths: { cells: { x: number; y: number; rows: number }[]; columns: Bin[]; lines: Bin[] };
  labels: Bar[];
  changes: Bar[];
  alarms: Alarm[];
  runs: Run[];
}

/** The text that `astuner explain` prints about a row. */
export interface Explained {
  text: string;
}

/** The source of the rows: the server of `astuner view`, or the report's own file. */
export interface Source {
  state(): Promise<State>;
  rows(filters: Filters, sort: string, offset: number, limit: number): Promise<Page>;
  row(n: number): Promise<WholeRow>;
  group(n: number): Promise<WholeGroup>;
  overview(filters: Filters): Promise<Overview>;
  label(row: Fields, label: string | null, remark: string): Promise<void>;
  explain(n: number): Promise<Explained>;
  /** The rows that pass the filters as JSON lines, up to 20,000. */
  lines(filters: Filters): Promise<string>;
}
