// Computes an overview's sums over a report's rows; agentscope_tuner/lab/view/overview.py computes the same sums in SQL.
import { type Group, groupKind, groupSpread, promptKind } from "./filters";
import type { Axis, Bar, Fields, Overview, Part, Point, Totals } from "./types";

const MOST_POINTS = 200;
const MOST_BARS = 24;
const BINS = 16;
// In widths of what lies between
const FAR = 5;
const SPREADS = 8;

type Numbers = (number | null)[];
const known = (values: Numbers) => values.filter((value): value is number => value !== null);
const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
const mean = (values: Numbers) => {
  const found = known(values);
  return found.length ? sum(found) / found.length : null;
};
const low = (values: Numbers) => known(values).reduce<number | null>((a, b) => (a === null || b < a ? b : a), null);
const high = (values: Numbers) => known(values).reduce<number | null>((a, b) => (a === null || b > a ? b : a), null);
const asNumber = (success: boolean | null) => (success === null ? null : Number(success));

function by<K, T>(items: T[], key: (item: T) => K): Map<K, T[]> {
  const found = new Map<K, T[]>();
  for (const item of items) {
    const name = key(item);
    const one = found.get(name);
    if (one) one.push(item);
    else found.set(name, [item]);
  }
  return found;
}

export function overviewOf(rows: Fields[], groups: Group[], prompts: Group[]): Omit<Overview, "alarms" | "runs"> {
  const totals = totalsOf(rows);
  const axis = axisOf(totals);
  return {
    totals,
    axis,
    points: pointsOf(rows, axis),
    parts: partsOf(rows, axis),
    rewards: histogram(rows.map((row) => row.reward)),
    statuses: counts(rows, (row) => row.status),
    causes: counts(rows, (row) => row.cause),
    stages: stagesOf(rows),
    rules: counts(rows.flatMap((row) => row.violations.map((name) => ({ name }))), (rule) => rule.name),
    shapes: counts(rows, (row) => row.shape),
    groups: counts(groups, groupKind),
    prompts: counts(prompts, promptKind),
    spreads: spreadsOf(groups),
    lengths: lengthsOf(rows, totals),
    labels: namedWithSuccess(rows.filter((row) => row.label), (row) => row.label),
    changes: counts(rows, (row) => row.change),
  };
}

function totalsOf(rows: Fields[]): Totals {
  const status = by(rows, (row) => row.status);
  const rewards = rows.map((row) => row.reward);
  const steps = rows.map((row) => row.step);
  const of = (name: string) => (rows.length ? (status.get(name)?.length ?? 0) : null);
  const costs = known(rows.map((row) => row.cost));
  return {
    rows: rows.length,
    judged: of("judged"), filtered: of("filtered"), failed: of("failed"), unreadable: of("unreadable"),
    reward: mean(rewards), success: mean(rows.map((row) => asNumber(row.success))),
    lowest: low(rewards), highest: high(rewards),
    seconds: sum(known(rows.map((row) => row.seconds))), cost: costs.length ? sum(costs) : null,
    chars: mean(rows.map((row) => row.chars)), longest: high(rows.map((row) => row.chars)),
    first_step: low(steps), last_step: high(steps), steps: new Set(known(steps)).size,
    first_row: low(rows.map((row) => row.n)), last_row: high(rows.map((row) => row.n)),
  };
}

function axisOf(totals: Totals): Axis {
  const steps = totals.first_step !== null && totals.steps > 1;
  const [first, last] = steps ? [totals.first_step, totals.last_step] : [totals.first_row, totals.last_row];
  if (first === null || last === null) return { name: "row", column: "n", first: 0, width: 0, exact: false };
  const width = Math.max(1, Math.ceil((last - first + 1) / (steps ? MOST_POINTS : MOST_POINTS / 4)));
  return { name: steps ? "step" : "row", column: steps ? "step" : "n", first, width, exact: steps && width === 1 };
}

function binned(rows: Fields[], axis: Axis): [number, Fields[]][] {
  if (axis.width <= 0) return [];
  const on = rows.filter((row) => row[axis.column] !== null);
  const bins = by(on, (row) => Math.trunc((row[axis.column]! - axis.first) / axis.width));
  return [...bins].sort(([a], [b]) => a - b);
}

function placeOf(axis: Axis, bin: number): { x: number; filter: string } {
  const start = axis.first + bin * axis.width;
  return axis.exact
    ? { x: start, filter: `${start}..${start}` }
    : { x: start + axis.width / 2, filter: `${start}..${start + axis.width})` };
}

function pointsOf(rows: Fields[], axis: Axis): Point[] {
  return binned(rows, axis).map(([bin, members]) => {
    const rewards = members.map((row) => row.reward);
    const average = mean(rewards);
    const square = mean(rewards.map((reward) => (reward === null ? null : reward * reward)));
    return {
      ...placeOf(axis, bin),
      rows: members.length,
      reward: average,
      lowest: low(rewards),
      highest: high(rewards),
      success: mean(members.map((row) => asNumber(row.success))),
      failed: members.filter((row) => row.status === "failed").length / members.length,
      filtered: members.filter((row) => row.status === "filtered").length / members.length,
      chars: mean(members.map((row) => row.chars)) ?? 0,
      spread: average === null || square === null ? null : Math.sqrt(Math.max(0, square - average * average)),
    };
  });
}

function partsOf(rows: Fields[], axis: Axis): Part[] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row.parts)))].sort().slice(0, MOST_BARS);
  return names.map((name) => {
    const having = rows.filter((row) => name in row.parts);
    const values = having.map((row) => row.parts[name]);
    return {
      name,
      rows: having.length,
      mean: mean(values)!, lowest: low(values)!, highest: high(values)!,
      points: binned(having, axis).map(([bin, members]) => ({
        x: placeOf(axis, bin).x,
        mean: mean(members.map((row) => row.parts[name]))!,
      })),
    };
  });
}

function counts<T>(items: T[], name: (item: T) => string | null): Bar[] {
  const named = by(items.filter((item) => name(item)), name);
  return [...named].map(([key, members]) => ({ name: key, rows: members.length })).sort(mostFirst).slice(0, MOST_BARS);
}

const mostFirst = (a: Bar, b: Bar) => b.rows - a.rows || ((a.name ?? "") < (b.name ?? "") ? -1 : 1);

function namedWithSuccess(rows: Fields[], name: (row: Fields) => string | null): Bar[] {
  return [...by(rows, name)]
    .map(([key, members]) => ({
      name: key, rows: members.length, success: mean(members.map((row) => asNumber(row.success))),
    }))
    .sort((a, b) => ((a.name ?? "") < (b.name ?? "") ? -1 : 1));
}

function stagesOf(rows: Fields[]): Bar[] {
  return [...by(rows.filter((row) => row.stage), (row) => row.stage)]
    .map(([name, members]) => {
      const costs = known(members.map((row) => row.cost));
      return {
        name,
        rows: members.length,
        success: mean(members.map((row) => asNumber(row.success))),
        seconds: mean(members.map((row) => row.seconds)),
        total_seconds: sum(known(members.map((row) => row.seconds))),
        cost: costs.length ? sum(costs) : null,
      };
    })
    .sort(mostFirst)
    .slice(0, MOST_BARS);
}

function bounds(lowest: number, width: number, bin: number, highest: number, bins: number): string {
  const start = lowest + bin * width;
  return bin === bins - 1 ? `${start}..${highest}` : `${start}..${start + width})`;
}

function histogram(values: Numbers): Bar[] {
  const found = known(values);
  const lowest = low(values);
  const highest = high(values);
  if (lowest === null || highest === null) return [];
  const distinct = by(found, (value) => value);
  if (distinct.size <= MOST_BARS) {
    const bars = [...distinct].map(([value, same]) => ({ value, rows: same.length, filter: `${value}..${value}` }));
    return bars.sort((a, b) => a.value - b.value);
  }
  const [first, last] = drawn(found, lowest, highest);
  const width = (last - first) / BINS;
  const bins = by(found, (value) => Math.max(0, Math.min(BINS - 1, Math.trunc((value - first) / width))));
  const bars = columns(bins, first, width, last, BINS);
  if (first > lowest) Object.assign(bars[0], { value: first + width, end: "<", filter: `..${first + width})` });
  if (last < highest) Object.assign(bars[BINS - 1], { end: "≥", filter: `${first + (BINS - 1) * width}..` });
  return bars;
}

/** The range of the bins, without the outermost 0.5 % at an end that lies far beyond the others. */
function drawn(found: number[], lowest: number, highest: number): [number, number] {
  const sorted = [...found].sort((a, b) => a - b);
  const aside = Math.ceil(sorted.length / 200);
  const [first, last] = [sorted[aside], sorted[sorted.length - 1 - aside]];
  const far = FAR * (last - first) || Infinity;
  return [first - lowest > far ? first : lowest, highest - last > far ? last : highest];
}

/** All bins, with the empty ones, so that the axis is to scale. */
function columns(bins: Map<number, number[]>, lowest: number, width: number, highest: number, count: number): Bar[] {
  return Array.from({ length: count }, (_, bin) => ({
    value: lowest + bin * width, rows: bins.get(bin)?.length ?? 0, filter: bounds(lowest, width, bin, highest, count),
  }));
}

function spreadsOf(groups: Group[]): Bar[] {
  const several = groups.filter((group) => group.size > 1);
  const widest = high(several.map(groupSpread));
  if (!widest) return [];
  const width = widest / SPREADS;
  const rated = several.map(groupSpread).filter((spread): spread is number => spread !== null);
  return columns(by(rated, (spread) => Math.min(SPREADS - 1, Math.trunc(spread / width))), 0, width, widest, SPREADS);
}

function lengthsOf(rows: Fields[], totals: Totals): Overview["lengths"] {
  const { lowest, highest, longest } = totals;
  if (lowest === null || highest === null || !longest) return { cells: [], columns: [], lines: [] };
  const wide = roundUp(longest / 12);
  const tall = (highest - lowest) / 5 || 1;
  const rated = rows.filter((row) => row.reward !== null);
  const place = (row: Fields) =>
    `${Math.trunc(row.chars / wide)} ${Math.min(4, Math.trunc((row.reward! - lowest) / tall))}`;
  const cells = [...by(rated, place)].map(([key, members]) => {
    const [x, y] = key.split(" ").map(Number);
    return { x, y, rows: members.length };
  });
  const lines = highest > lowest ? 5 : 1;
  return {
    cells: cells.sort((a, b) => a.x - b.x || a.y - b.y),
    columns: Array.from({ length: Math.trunc(longest / wide) + 1 }, (_, x) => ({
      value: x * wide, filter: `${x * wide}..${(x + 1) * wide})`,
    })),
    lines: Array.from({ length: lines }, (_, y) => ({
      value: lowest + y * tall, filter: bounds(lowest, tall, y, highest, lines),
    })),
  };
}

function roundUp(width: number): number {
  if (width <= 1) return 1;
  const power = 10 ** Math.trunc(Math.log10(width));
  return Math.ceil(width / power) * power;
}
