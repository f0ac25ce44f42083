// Applies the filters in the address to a report's rows; agentscope_tuner/view/filters.py applies the same filters in SQL.
import type { Fields, Filters } from "./types";

const NUMBER = "[-+]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][-+]?\\d+)?";
const RANGE = new RegExp(`^(${NUMBER})?\\.\\.(${NUMBER})?(\\)?)$`);

export type Test = (row: Fields) => boolean;

export interface Group {
  size: number;
  failed: number;
  filtered: number;
  successes: number;
  wrong: number;
  lowest: number;
  highest: number;
  total: number;
  squares: number;
}

export function between(key: string, value: string): (number: number | null) => boolean {
  const match = RANGE.exec(value);
  if (!match || !(match[1] || match[2])) throw new Error(`${key} must be a range such as '0.5..1' or '10..', got '${value}'`);
  const low = match[1] ? Number(match[1]) : -Infinity;
  const high = match[2] ? Number(match[2]) : Infinity;
  const open = match[3] === ")";
  return (number) => number !== null && number >= low && (open ? number < high : number <= high);
}

export function isRange(value: string): boolean {
  return RANGE.test(value);
}

export function groupKind(g: Group): string {
  if (g.size === 1) return "single";
  if (g.failed === g.size) return "all failed";
  if (g.highest - g.lowest > 1e-9) return "mixed";
  if (g.filtered === g.size - g.failed) return "all filtered";
  if (g.successes === g.size - g.failed) return "all right";
  return g.wrong === g.size - g.failed ? "all wrong" : "same reward";
}

export function groupSpread(g: Group): number | null {
  const rated = g.size - g.failed;
  if (!rated) return null;
  return Math.sqrt(Math.max(0, g.squares / rated - (g.total / rated) * (g.total / rated)));
}

/** The kind of a prompt over all its groups. */
export function promptKind(g: Group): string {
  const rated = g.size - g.failed;
  if (rated < 2) return "single";
  if (g.highest - g.lowest > 1e-9) return "varies";
  if (g.successes === rated) return "always right";
  return g.wrong === rated ? "never right" : "same reward";
}

export const groupKey = (row: Fields) => `${row.step ?? ""}\u0000${row.task}`;

/** One test for each filter; a row must pass all of them. */
export function tests(filters: Filters, groups: Map<string, Group>, prompts: Map<string, Group>, holds: (row: Fields, words: string) => boolean): Test[] {
  return Object.entries(filters).map(([key, value]): Test => {
    switch (key) {
      case "q": {
        const words = value.toLowerCase();
        return (row) => holds(row, words);
      }
      case "status":
      case "stage":
      case "shape":
      case "cause":
      case "task":
      case "id":
        return (row) => row[key] === value;
      case "success":
        return (row) => row.success === (value === "yes");
      case "rule":
        return (row) => row.violations.includes(value);
      case "part": {
        const colon = value.lastIndexOf(":");
        if (colon < 0 || !isRange(value.slice(colon + 1))) return (row) => value in row.parts;
        const name = value.slice(0, colon);
        const inside = between(key, value.slice(colon + 1));
        return (row) => inside(row.parts[name] ?? null);
      }
      case "group":
        return (row) => !!row.task && groupKind(groups.get(groupKey(row))!) === value;
      case "prompts":
        return (row) => !!row.task && promptKind(prompts.get(row.task)!) === value;
      case "spread": {
        const inside = between(key, value);
        return (row) => !!row.task && inside(groupSpread(groups.get(groupKey(row))!));
      }
      case "label":
        return (row) => (row.label ?? "none") === value;
      case "change":
        return (row) => (value === "any" ? row.change !== "same" : row.change === value);
      case "reward":
      case "step":
      case "chars":
      case "seconds":
      case "cost": {
        const inside = between(key, value);
        return (row) => inside(row[key]);
      }
      case "row": {
        const inside = between(key, value);
        return (row) => inside(row.n);
      }
      default:
        throw new Error(`unknown filter '${key}'`);
    }
  });
}
