/** A number in few characters: 0.3561, 1,204, 0.00046. */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  const size = Math.abs(value);
  return size >= 1000 ? Math.round(value).toLocaleString("en") : size >= 0.001 ? `${Number(value.toPrecision(4))}` : value.toPrecision(2);
}

/** A count for a narrow place: 2.2k. */
export const compact = (value: number) => (value < 1000 ? `${value}` : value.toLocaleString("en", { notation: "compact", maximumSignificantDigits: 2 }));

/** A number beside an axis: 0.25, 130M, 2e-6. */
export function tick(value: number, digits = 6): string {
  const size = Math.abs(value);
  if (size >= 10000) return value.toLocaleString("en", { notation: "compact", maximumSignificantDigits: Math.min(3, digits) });
  return size && size < 0.001 ? `${Number(value.toPrecision(2)).toExponential()}` : `${Number(value.toPrecision(digits))}`;
}

/** Numbers beside an axis; in full where their short forms are alike. */
export function ticks(values: number[]): string[] {
  const found = values.map((value) => tick(value));
  return new Set(found).size === found.length ? found : values.map((value) => value.toLocaleString("en", { maximumFractionDigits: 12 }));
}

export const percent = (value: number | null | undefined) =>
  value === null || value === undefined ? "–" : `${(value * 100).toFixed(1)}%`;

export function time(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds >= 3600) return `${(seconds / 3600).toFixed(1)} h`;
  if (seconds >= 60) return `${(seconds / 60).toFixed(1)} min`;
  if (seconds >= 1) return `${seconds.toFixed(2)} s`;
  return seconds >= 0.001 ? `${(seconds * 1e3).toFixed(1)} ms` : `${Math.round(seconds * 1e6)} µs`;
}
