// Charts in which every bar and point sets a filter. Bars are buttons, so that keyboards and screen readers reach them.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { compact, percent, short, tick, ticks, time } from "./numbers";
import { shown as visible, Visible } from "./text";
import type { Alarm, Axis, Bar, Overview, Part, Point, Run } from "./types";
import { useNamed, useWords } from "./words";

type Pick = (value: string) => void;

/** A column of bars with names, as long as `size` says: by default, as many as their rows. */
export function Bars({ bars, total, onPick, tone, note, size = (bar) => bar.rows }: {
  bars: Bar[]; total: number; onPick: (bar: Bar) => void; tone?: (name: string) => string; note?: (bar: Bar) => string;
  size?: (bar: Bar) => number;
}) {
  const named = useNamed();
  const most = Math.max(1e-9, ...bars.map(size));
  return (
    <ul class="bars">
      {bars.map((bar) => (
        <li key={bar.name}>
          <button type="button" class={`bar ${tone?.(bar.name ?? "") ?? ((bar.value ?? 0) < 0 ? "bad" : "")}`} onClick={() => onPick(bar)}>
            <span class="bar-name"><Visible text={named(bar.name ?? "")} /></span>
            <span class="bar-track"><span class="bar-fill" style={{ width: `${(size(bar) / most) * 100}%` }} /></span>
            <span class="bar-count">{short(bar.rows)}</span>
            <span class="bar-share">{note ? note(bar) : percent(total ? bar.rows / total : null)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** A distribution, with a column for each value or bin. */
export function Columns({ bars, onPick, label }: { bars: Bar[]; onPick: Pick; label: string }) {
  const most = Math.max(1, ...bars.map((bar) => bar.rows));
  return (
    <div class="columns" role="group" aria-label={label}>
      {bars.map((bar, place) => (
        <button type="button" key={bar.filter} class="column" onClick={() => onPick(bar.filter!)}
          title={`${bar.end ?? ""}${short(bar.value)}: ${bar.rows}`}>
          <span class="column-count">{bar.rows ? compact(bar.rows) : ""}</span>
          <span class="column-fill" style={{ height: `${bar.rows ? Math.max(2, (bar.rows / most) * 100) : 0}px` }} />
          <span class="column-name"><span class="unseen">{label} </span>
            {/* where there is room for every other name alone, the others are read out */}
            <span class={bars.length > 10 && place % 2 && !bar.end ? "unseen" : ""}>{bar.end}{tick(bar.value ?? 0, 2)}</span>
          </span>
        </button>
      ))}
    </div>
  );
}

export function Grid({ lengths, onPick, label }: {
  lengths: Overview["lengths"]; onPick: (chars: string, reward: string) => void; label: string;
}) {
  const say = useWords();
  const count = new Map(lengths.cells.map((cell) => [`${cell.x} ${cell.y}`, cell.rows]));
  const most = Math.max(1, ...count.values());
  const lines = lengths.lines.map((line, y) => ({ ...line, y })).reverse();
  return (
    <div class="grid-chart" role="group" aria-label={label} style={{ "--columns": lengths.columns.length }}>
      {lines.map((line) => (
        <>
          <span class="grid-side">{short(line.value)}</span>
          {lengths.columns.map((column, x) => {
            const rows = count.get(`${x} ${line.y}`) ?? 0;
            if (!rows) return <span class="grid-cell" key={`${x} ${line.y}`} />;
            const told = `${say("chars")} ${short(column.value)}, ${say("reward")} ${short(line.value)}: ${rows}`;
            return (
              <button type="button" class="grid-cell full" key={`${x} ${line.y}`} aria-label={told} title={told}
                style={{ "--share": `${Math.round(18 + 82 * Math.sqrt(rows / most))}%` }}
                onClick={() => onPick(column.filter, line.filter)} />
            );
          })}
        </>
      ))}
      <span class="grid-side" />
      {lengths.columns.map((column, x) => <span class="grid-foot" key={x}>{x % 2 ? "" : short(column.value)}</span>)}
    </div>
  );
}

export function StageTable({ stages, onPick }: { stages: Bar[]; onPick: Pick }) {
  const say = useWords();
  const costs = stages.some((stage) => stage.cost !== null);
  return (
    <div class="scroll-x">
      <table class="small">
        <thead>
          <tr>
            <th scope="col">{say("stage")}</th><th scope="col">{say("rows")}</th><th scope="col">{say("success")}</th>
            <th scope="col">{say("judgingTime")}</th>{costs && <th scope="col">{say("cost")}</th>}
          </tr>
        </thead>
        <tbody>
          {stages.map((stage) => (
            <tr key={stage.name}>
              <th scope="row"><button type="button" class="link" onClick={() => onPick(stage.name!)}><Visible text={stage.name ?? ""} /></button></th>
              <td>{short(stage.rows)}</td><td>{percent(stage.success)}</td>
              <td>{time(stage.total_seconds)} <span class="faint">({time(stage.seconds)})</span></td>
              {costs && <td>{short(stage.cost)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const SERIES = ["--a", "--b", "--c", "--d", "--e", "--f"];

/** A chart of lines as wide as its container, in the theme's colours; `onPick` gets the index of the picked point. */
function Lines({ data, series, bands, height, label, theme, hooks, onPick }: {
  data: uPlot.AlignedData; series: uPlot.Series[]; bands?: uPlot.Band[]; height: number; label: string; theme: string;
  hooks?: uPlot.Hooks.Arrays; onPick: (place: number) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const pick = useRef(onPick);
  pick.current = onPick;
  useEffect(() => {
    const element = place.current!;
    const ink = colour("--faint");
    const line = colour("--line");
    const axis: uPlot.Axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: "12px system-ui" };
    const made = new uPlot(
      {
        width: element.clientWidth || 300, height, series, bands, hooks,
        scales: { x: { time: false } },
        axes: [{ ...axis }, { ...axis, size: (_, values) => 18 + 8 * Math.max(4, ...(values ?? []).map((value) => value.length)), values: (_, found) => ticks(found) }],
        cursor: { drag: { x: false, y: false }, points: { size: 8 } },
        legend: { live: true },
      },
      data, element,
    );
    chart.current = made;
    made.over.addEventListener("click", () => made.cursor.idx != null && pick.current(made.cursor.idx));
    const watcher = new ResizeObserver(() => made.setSize({ width: element.clientWidth || 300, height }));
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      made.destroy();
    };
  }, [data, theme, height]);
  const move = (event: KeyboardEvent) => {
    const made = chart.current;
    const count = data[0].length;
    if (!made || !count) return;
    const at = made.cursor.idx ?? -1;
    if (event.key === "Enter" && at >= 0) pick.current(at);
    else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      event.preventDefault();
      const next = Math.max(0, Math.min(count - 1, at + (event.key === "ArrowRight" ? 1 : -1)));
      made.setCursor({ left: made.valToPos(data[0][next], "x"), top: made.over.clientHeight / 2 });
    }
  };
  return <div class="lines" ref={place} role="application" aria-label={label} tabIndex={0} onKeyDown={move} />;
}

export function OverSteps({ points, axis, alarms, runs, theme, onPick }: {
  points: Point[]; axis: Axis; alarms: Alarm[]; runs: Run[]; theme: string; onPick: Pick;
}) {
  const say = useWords();
  const over = runs.filter((run) => run.axis === axis.name && run.points.length > 1).slice(0, SERIES.length - 2);
  const data = over.length ? uPlot.join([columnsOf(points), ...over.map(({ points: p }) => [p.map((x) => x.x), p.map((x) => x.reward)] as uPlot.AlignedData)]) : columnsOf(points);
  const hooks: uPlot.Hooks.Arrays = axis.name === "step" ? { draw: [(chart) => markAlarms(chart, alarms)] } : {};
  const number = (_: uPlot, value: number | null) => (value == null ? "–" : short(Number(value.toPrecision(4))));
  const series: uPlot.Series[] = [
    { label: say(axis.name === "step" ? "step" : "row"), value: number },
    { label: say("reward"), stroke: colour("--a"), width: 2, value: number, points: { show: points.length < 60 }, spanGaps: true },
    { label: "+σ", stroke: "transparent", value: number, points: { show: false }, spanGaps: true },
    { label: "−σ", stroke: "transparent", value: number, points: { show: false }, spanGaps: true },
    { label: say("success"), stroke: colour("--b"), width: 1.5, dash: [6, 4], value: number, points: { show: false }, spanGaps: true },
    ...over.map((run): uPlot.Series => ({
      label: visible(run.name), stroke: colour(SERIES[(runs.indexOf(run) + 2) % SERIES.length]), width: 1.5, value: number, points: { show: false }, spanGaps: true,
    })),
  ];
  const picked = (place: number) => points.reduce((a, b) => (Math.abs(b.x - data[0][place]) < Math.abs(a.x - data[0][place]) ? b : a)).filter;
  return (
    <Lines data={data} series={series} bands={[{ series: [2, 3], fill: colour("--band") }]} height={240} theme={theme} hooks={hooks}
      label={`${say(axis.name === "step" ? "overSteps" : "overRows")}. ${say("bandHelp")}`} onPick={(place) => onPick(picked(place))} />
  );
}

function columnsOf(points: Point[]): uPlot.AlignedData {
  const edge = (sign: number) =>
    points.map((p) => (p.reward === null || p.spread === null ? null : Math.min(p.highest!, Math.max(p.lowest!, p.reward + sign * p.spread))));
  return [points.map((p) => p.x), points.map((p) => p.reward), edge(1), edge(-1), points.map((p) => p.success)];
}

function markAlarms(chart: uPlot, alarms: Alarm[]): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.strokeStyle = colour("--bad");
  ctx.lineWidth = 2;
  // The series drawn last may leave its own pattern
  ctx.setLineDash([6, 4]);
  for (const alarm of alarms) {
    if (alarm.step === null) continue;
    const x = chart.valToPos(alarm.step, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

/** The parts' means along the axis, as stacked areas. */
export function Stacked({ parts, points, theme, onPick }: { parts: Part[]; points: Point[]; theme: string; onPick: Pick }) {
  const say = useWords();
  const xs = points.map((point) => point.x);
  const shown = parts.slice(0, SERIES.length);
  const sums = xs.map(() => 0);
  const stacked = shown.map((part) => {
    const means = new Map(part.points.map((point) => [point.x, point.mean]));
    return xs.map((x, place) => (sums[place] += means.get(x) ?? 0));
  });
  const data = [xs, ...stacked] as uPlot.AlignedData;
  const own = (part: number) => (_: uPlot, __: number, ___: number, place: number | null) =>
    place === null ? "–" : short(shown[part].points.find((point) => point.x === xs[place])?.mean ?? null);
  const series: uPlot.Series[] = [
    { label: say("step") },
    ...shown.map((part, i): uPlot.Series => ({
      label: visible(part.name), stroke: colour(SERIES[i]), width: 1.5, points: { show: false }, value: own(i),
      fill: i ? undefined : `${colour(SERIES[0])}40`,
    })),
  ];
  const bands = shown.slice(1).map((_, i): uPlot.Band => ({ series: [i + 2, i + 1], fill: `${colour(SERIES[i + 1])}40` }));
  return <Lines data={data} series={series} bands={bands} height={200} theme={theme} label={say("parts")} onPick={(place) => onPick(points[place].filter)} />;
}
