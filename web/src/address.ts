// Reads and writes the part of the address after `#`: the view and its filters. A colleague who opens the address sees the
// same rows.
import { useEffect, useState } from "preact/hooks";
import type { Filters } from "./types";

export interface Place {
  view: "overview" | "rows" | "row" | "group";
  n: number;
  /** The position of row `n` in the list; -1 if it was not opened from the list. */
  at: number;
  sort: string;
  columns: string[] | null;
  filters: Filters;
}

const OWN = ["sort", "cols", "at"];

export function read(hash: string): Place {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [view, n] = path.split("/");
  const asked = new URLSearchParams(query);
  const filters: Filters = {};
  for (const [key, value] of asked) if (!OWN.includes(key) && value) filters[key] = value;
  return {
    view: view === "rows" || view === "row" || view === "group" ? view : "overview",
    n: Number(n) || 0,
    at: asked.has("at") ? Number(asked.get("at")) : -1,
    sort: asked.get("sort") ?? "",
    columns: asked.get("cols")?.split(",") ?? null,
    filters,
  };
}

export function write(place: Place): string {
  const query = new URLSearchParams(place.filters);
  if (place.sort) query.set("sort", place.sort);
  if (place.columns) query.set("cols", place.columns.join(","));
  if (place.at >= 0 && place.view === "row") query.set("at", `${place.at}`);
  const path = place.view === "row" || place.view === "group" ? `${place.view}/${place.n}` : place.view;
  const text = query.toString();
  return `#/${path}${text ? `?${text}` : ""}`;
}

// A page inside a notebook has no address of its own
let here = location.hash;

export function usePlace(): [Place, (change: Partial<Place>, replace?: boolean) => void] {
  const [hash, setHash] = useState(here);
  useEffect(() => {
    const changed = () => setHash((here = location.hash));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  const place = read(hash);
  const go = (change: Partial<Place>, replace = false) => {
    here = write({ ...read(here), ...change });
    try {
      if (replace) history.replaceState(null, "", here);
      else history.pushState(null, "", here);
    } catch {
      // Shown all the same
    }
    setHash(here);
  };
  return [place, go];
}

/** `filters` with filter `key` set to `value`; an empty value removes the filter. */
export function withFilter(filters: Filters, key: string, value: string): Filters {
  const next = { ...filters };
  if (value) next[key] = value;
  else delete next[key];
  return next;
}
