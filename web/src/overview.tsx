import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Bars, Columns, Grid, OverSteps, Stacked, StageTable } from "./charts";
import { percent, short, time } from "./numbers";
import type { Filters, Overview, Source } from "./types";
import { Visible } from "./text";
import { useNamed, useWords } from "./words";

const TONES: Record<string, string> = {
  judged: "good", filtered: "warn", failed: "bad", unreadable: "bad", mixed: "good", varies: "good", "all failed": "bad", lost: "bad", gained: "good",
};

export function OverviewPage({ source, name, filters, version, theme, pick }: {
  source: Source; name: string; filters: Filters; version: number; theme: string; pick: (found: Filters) => void;
}) {
  const say = useWords();
  const [found, problem] = useLatest(JSON.stringify(filters), version, () => source.overview(filters));
  if (problem) return <p class="problem" role="alert">{problem}</p>;
  if (!found) return <p class="faint">{say("loading")}</p>;
  if (!found.totals.rows) return <p class="faint">{say(Object.keys(filters).length ? "noRows" : "noneYet")}</p>;
  return <Charts found={found} name={name} theme={theme} pick={pick} />;
}

/**
 * The answer to the last question, which is asked again when `topic` or `version` changes. One question at a time is asked,
 * because a file may grow faster than answers come.
 */
function useLatest<T>(topic: string, version: number, ask: () => Promise<T>): [T | null, string] {
  const [found, setFound] = useState<T | null>(null);
  const [problem, setProblem] = useState("");
  const now = useRef({ topic, version, ask, busy: false, ended: false });
  Object.assign(now.current, { topic, version, ask });
  const run = async () => {
    const { current } = now;
    if (current.busy) return;
    current.busy = true;
    for (let asked = ""; !current.ended && asked !== `${current.version} ${current.topic}`; ) {
      asked = `${current.version} ${current.topic}`;
      const about = current.topic;
      const [answer, error] = await current.ask().then((value) => [value, ""] as const, (why) => [null, String(why.message ?? why)] as const);
      if (current.ended || current.topic !== about) continue;
      if (answer !== null) setFound(answer);
      setProblem(error);
    }
    current.busy = false;
  };
  useEffect(() => void run(), [topic, version]);
  useEffect(() => {
    now.current.ended = false;
    return () => {
      now.current.ended = true;
    };
  }, []);
  return [found, problem];
}

function Card({ title, help, wide, children }: { title: string; help?: string; wide?: boolean; children: ComponentChildren }) {
  return (
    <section class={`card${wide ? " wide" : ""}`}>
      <h2>{title}</h2>
      {children}
      {help && <p class="help">{help}</p>}
    </section>
  );
}

function Charts({ found, name, theme, pick }: { found: Overview; name: string; theme: string; pick: (found: Filters) => void }) {
  const say = useWords();
  const { totals, axis } = found;
  const along = axis.name === "step" ? "step" : "row";
  const tone = (name: string) => TONES[name] ?? "";
  const named = (key: string) => (bar: { name?: string | null }) => pick({ [key]: bar.name ?? "" });
  return (
    <>
      <Totals found={found} pick={pick} />
      <div class="cards">
        {found.points.length > 1 && (
          <Card title={say(axis.name === "step" ? "overSteps" : "overRows")} help={say("bandHelp")} wide>
            <OverSteps points={found.points} axis={axis} alarms={found.alarms} runs={found.runs} theme={theme} onPick={(value) => pick({ [along]: value })} />
            {found.runs.length > 0 && <Runs found={found} name={name} />}
            <Alarms found={found} pick={pick} />
          </Card>
        )}
        {found.changes.length > 0 && (
          <Card title={say("changes")}><Bars bars={found.changes} total={totals.rows} tone={tone} onPick={named("change")} /></Card>
        )}
        {found.rewards.length > 0 && (
          <Card title={say("distribution")}>
            <Columns bars={found.rewards} label={say("reward")} onPick={(value) => pick({ reward: value })} />
          </Card>
        )}
        <Card title={say("statuses")}><Bars bars={found.statuses} total={totals.rows} tone={tone} onPick={named("status")} /></Card>
        {found.causes.length > 0 && (
          <Card title={say("causes")}><Bars bars={found.causes} total={totals.rows} tone={() => "bad"} onPick={named("cause")} /></Card>
        )}
        {found.rules.length > 0 && (
          <Card title={say("rules")}><Bars bars={found.rules} total={totals.rows} tone={() => "warn"} onPick={named("rule")} /></Card>
        )}
        {found.shapes.length > 0 && (
          <Card title={say("shapes")} help={say("shapesHelp")}>
            <Bars bars={found.shapes.slice(0, 8)} total={totals.rows} onPick={named("shape")} />
          </Card>
        )}
        {found.parts.length > 0 && (
          <Card title={say("parts")} wide>
            {found.points.length > 1 && (
              <Stacked parts={found.parts} points={found.points} theme={theme} onPick={(value) => pick({ [along]: value })} />
            )}
            <Bars bars={found.parts.map((part) => ({ name: part.name, rows: part.rows, value: part.mean }))} total={totals.rows}
              size={(bar) => Math.abs(bar.value ?? 0)} note={(bar) => `∅ ${short(bar.value)}`} onPick={named("part")} />
          </Card>
        )}
        {found.groups.some((bar) => bar.name !== "single") && (
          <Card title={say("groups")} help={say("groupsHelp")}>
            <Bars bars={found.groups} total={found.groups.reduce((sum, bar) => sum + bar.rows, 0)} tone={tone} onPick={named("group")} />
          </Card>
        )}
        {found.prompts.some((bar) => bar.name !== "single") && (
          <Card title={say("promptKinds")} help={say("promptsHelp")}>
            <Bars bars={found.prompts} total={found.prompts.reduce((sum, bar) => sum + bar.rows, 0)} tone={tone} onPick={named("prompts")} />
          </Card>
        )}
        {found.spreads.length > 0 && (
          <Card title={say("spreads")}><Columns bars={found.spreads} label={say("spread")} onPick={(value) => pick({ spread: value })} /></Card>
        )}
        {found.lengths.cells.length > 0 && (
          <Card title={say("lengths")} help={say("lengthsHelp")}>
            <Grid lengths={found.lengths} label={say("lengths")} onPick={(chars, reward) => pick({ chars, reward })} />
          </Card>
        )}
        {found.stages.length > 0 && (
          <Card title={say("stages")}><StageTable stages={found.stages} onPick={(value) => pick({ stage: value })} /></Card>
        )}
        {found.labels.length > 0 && (
          <Card title={say("people")} help={say("peopleHelp")}>
            <Bars bars={found.labels} total={totals.rows} note={(bar) => percent(bar.success)} onPick={named("label")} />
          </Card>
        )}
      </div>
    </>
  );
}

function Totals({ found, pick }: { found: Overview; pick: (found: Filters) => void }) {
  const say = useWords();
  const { totals } = found;
  const counts = (["judged", "filtered", "failed", "unreadable"] as const).filter((name) => totals[name] || name === "judged" || name === "failed");
  return (
    <div class="totals">
      <button type="button" class="total" onClick={() => pick({})}><b>{short(totals.rows)}</b> <span>{say("total")}</span></button>
      {counts.map((name) => (
        <button type="button" key={name} class={`total ${totals[name] ? TONES[name] : ""}`} onClick={() => pick({ status: name })}>
          <b>{short(totals[name])}</b> <span>{say(name)}</span>
        </button>
      ))}
      <div class="total"><b>{short(totals.reward)}</b> <span>{say("meanReward")}</span></div>
      <button type="button" class="total" onClick={() => pick({ success: "yes" })}><b>{percent(totals.success)}</b> <span>{say("successRate")}</span></button>
      <div class="total"><b>{time(totals.seconds)}</b> <span>{say("judgingTime")}</span></div>
      {totals.cost !== null && <div class="total"><b>{short(totals.cost)}</b> <span>{say("cost")}</span></div>}
    </div>
  );
}

/** This run and those laid over it, in numbers. */
function Runs({ found, name }: { found: Overview; name: string }) {
  const say = useWords();
  return (
    <div class="scroll-x">
      <table class="small">
        <thead>
          <tr>{(["name", "rows", "reward", "success", "failed", "chars"] as const).map((key) => <th scope="col" key={key}>{say(key)}</th>)}</tr>
        </thead>
        <tbody>
          {[{ name, totals: found.totals }, ...found.runs].map(({ name, totals }, place) => (
            <tr key={place}>
              <th scope="row"><span class={`run-${(place && place + 1) % 6}`}>━</span> <Visible text={name} /></th>
              <td>{short(totals.rows)}</td><td>{short(totals.reward)}</td><td>{percent(totals.success)}</td><td>{short(totals.failed)}</td>
              <td>{short(totals.chars === null ? null : Math.round(totals.chars))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Alarms({ found, pick }: { found: Overview; pick: (found: Filters) => void }) {
  const say = useWords();
  const named = useNamed();
  if (!found.alarms.length) return null;
  return (
    <details class="alarms" open={found.alarms.length < 6}>
      <summary>{say("alarms")} ({found.alarms.length})</summary>
      <ul>
        {found.alarms.map((alarm, place) => (
          <li key={place}>
            {alarm.step === null ? <b>{named(alarm.monitor)}</b> : (
              <button type="button" class="link" onClick={() => pick({ step: `${alarm.step}..${alarm.step}` })}>
                {say("step")} {alarm.step} · {alarm.monitor}
              </button>
            )}{" "}
            {alarm.message}
          </li>
        ))}
      </ul>
    </details>
  );
}
