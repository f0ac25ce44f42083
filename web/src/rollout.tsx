import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { percent, short, time } from "./numbers";
import { Chip, Verdict } from "./table";
import { Text, Visible } from "./text";
import { Difference } from "./difference";
import { dict, failingTest, promptOf, turnsAfter, turnsOfCall, words, type Turn } from "./turns";
import type { Explained, Fields, Json, Source, State, WholeGroup, WholeRow } from "./types";
import { useNamed, useWords, type Word } from "./words";

function Block({ title, open = true, kind = "", children }: { title: string; open?: boolean; kind?: string; children: ComponentChildren }) {
  return (
    <details class={`block ${kind}`} open={open}>
      <summary><h2>{title}</h2></summary>
      {children}
    </details>
  );
}

function Turns({ turns, label }: { turns: Turn[]; label: string }) {
  return (
    <ol class="turns" aria-label={label}>
      {turns.map((turn, place) => (
        <li key={place} class={`turn ${/^(system|user|assistant|tool|error)$/.test(turn.role) ? turn.role : ""}`}>
          <span class="role"><Visible text={turn.role.slice(0, 60)} /></span>
          <div>
            {turn.thinking && <details class="thinking"><summary>…</summary><Text text={turn.thinking} label={turn.role} /></details>}
            {turn.text && <Text text={turn.text} label={turn.role} />}
            {turn.calls.map((call, at) => (
              <div class="call" key={at}><b><Visible text={call.name} /></b><Text text={call.input} label={call.name} /></div>
            ))}
          </div>
        </li>
      ))}
    </ol>
  );
}

/** One rollout with its verdict. */
export function RowPage({ source, state, n, version, onLoaded, explainAsked, onLabelled, overSteps }: {
  source: Source; state: State; n: number; version: number; onLoaded: (row: WholeRow) => void; explainAsked: number; onLabelled: number;
  overSteps: (task: string) => void;
}) {
  const say = useWords();
  const [row, setRow] = useState<WholeRow | null>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let wanted = true;
    source.row(n).then(
      (found) => {
        if (!wanted) return;
        setRow(found);
        setProblem("");
        onLoaded(found);
      },
      (error) => wanted && (setRow(null), setProblem(String(error.message ?? error))),
    );
    return () => {
      wanted = false;
    };
  }, [n, version, onLabelled]);
  if (problem) return <p class="problem" role="alert">{problem}</p>;
  if (!row || row.n !== n) return <p class="faint">{say("loading")}</p>;
  const whole = dict(row.row);
  const turns = turnsAfter(whole);
  const answer = answerOf(whole);
  return (
    <div class="rollout">
      <div class="story">
        {typeof row.row === "string" && <Block title={say("row")}><Text text={row.row} label={say("row")} /></Block>}
        {!turns.length || promptOf(whole).length ? (
          <Block title={say("prompt")}><Turns turns={promptOf(whole)} label={say("prompt")} /></Block>
        ) : null}
        {turns.length > 0 && <Block title={say("turns")}><Turns turns={turns} label={say("turns")} /></Block>}
        <Block title={say("answer")} kind="answer-block"><Text text={answer} boxed={row.boxed} label={say("answer")} /></Block>
        {row.reference && <Block title={say("reference")}><Text text={referenceOf(whole) || row.reference} label={say("reference")} /></Block>}
        <FailingTest row={whole} />
        <JudgeCalls calls={dict(whole.judgement).calls} />
        <JsonBlock row={row} />
      </div>
      <aside class="verdict" aria-label={say("verdict")}>
        <Judged row={row} overSteps={overSteps} />
        <Labelling key={`${row.n} ${row.label} ${row.remark}`} source={source} row={row} state={state} />
        <Explaining key={row.n} source={source} row={row} state={state} asked={explainAsked} />
      </aside>
    </div>
  );
}

const answerOf = (row: { [key: string]: Json }) => words(dict(dict(row.output).metadata).final_answer);

function referenceOf(row: { [key: string]: Json }): string {
  const given = dict(dict(row.task).metadata);
  return words(given.answer ?? given.ground_truth ?? given.reference ?? undefined);
}

function Judged({ row, overSteps }: { row: WholeRow; overSteps: (task: string) => void }) {
  const say = useWords();
  const named = useNamed();
  const verdict = dict(dict(row.row).judgement);
  const metrics = Object.entries(dict(verdict.metrics)).filter(([name]) => !name.startsWith("part/") && name !== "judge_cost");
  const widest = Math.max(1e-9, ...Object.values(row.parts).map(Math.abs));
  return (
    <section class="card judged-card">
      <h2>{say("verdict")}</h2>
      <p class="verdict-line"><Verdict row={row} /> {row.reward !== null && <Chip status={row.status} />}{row.label && <span class={`chip label-${row.label}`}>{say(row.label as Word)}</span>}</p>
      <Text text={row.problem || words(verdict.reason) || row.reason} label={say("reason")} />
      {row.violations.length > 0 && (
        <p>{say("violations")}: {row.violations.map((rule) => <span class="chip filtered" key={rule}><Visible text={rule} /></span>)}</p>
      )}
      {Object.keys(row.parts).length > 0 && (
        <table class="small parts">
          <caption>{say("parts")}</caption>
          <tbody>
            {Object.entries(row.parts).map(([name, value]) => (
              <tr key={name}>
                <th scope="row"><Visible text={name} /></th>
                <td class="part-track"><span class={value < 0 ? "bad" : ""} style={{ width: `${(Math.abs(value) / widest) * 100}%` }} /></td>
                <td>{short(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <dl>
        {row.cause && <><dt>{say("cause")}</dt><dd><Visible text={named(row.cause)} /></dd></>}
        {row.stage && <><dt>{say("stage")}</dt><dd><Visible text={row.stage} /></dd></>}
        <dt>{say("judgingTime")}</dt><dd>{time(row.seconds)}</dd>
        {row.cost !== null && <><dt>{say("cost")}</dt><dd>{short(row.cost)}</dd></>}
        <dt>{say("task")}</dt><dd>{row.task ? <button type="button" class="link" title={say("onePrompt")} onClick={() => overSteps(row.task)}><Visible text={row.task} /></button> : "–"}</dd>
        {row.step !== null && <><dt>{say("step")}</dt><dd>{short(row.step)}</dd></>}
        {metrics.map(([name, value]) => (
          <><dt><Visible text={name} /></dt><dd>{typeof value === "number" ? short(value) : <Visible text={words(value)} />}</dd></>
        ))}
      </dl>
      {words(verdict.error) && <Block title={say("error")}><Text text={words(verdict.error)} label={say("error")} /></Block>}
      {row.earlier && (
        <div class="earlier">
          <h3>{say("earlier")} {row.change && <span class={`chip ${row.change}`}>{named(row.change)}</span>}</h3>
          <p><Verdict row={row.earlier} /> {row.earlier.reward !== null && <Chip status={row.earlier.status} />}</p>
          <Text text={row.earlier.problem || row.earlier.reason} label={say("earlier")} />
        </div>
      )}
    </section>
  );
}

/** The test that a program fails, where the reason names it and the task has it. */
function FailingTest({ row }: { row: { [key: string]: Json } }) {
  const say = useWords();
  const test = failingTest(row);
  if (!test) return null;
  return (
    <Block title={`${say("failingTest")} ${test.number}`}>
      <h3>{say("input")}</h3><Text text={test.input} label={say("input")} />
      {test.expected && <><h3>{say("expected")}</h3><Text text={test.expected} label={say("expected")} /></>}
    </Block>
  );
}

/** The messages to LLM judges and their replies, if the row keeps them (`keep_calls`). */
function JudgeCalls({ calls }: { calls: Json | undefined }) {
  const say = useWords();
  const found = Array.isArray(calls) ? calls.map(dict) : [];
  if (!found.length) return null;
  return (
    <Block title={say("judgeCalls")}>
      {found.map((call, place) => (
        <div class="judge-call" key={place}>
          <h3><Visible text={words(call.model).slice(0, 200) || "?"} /></h3>
          <Turns turns={turnsOfCall(call)} label={say("judgeCalls")} />
        </div>
      ))}
    </Block>
  );
}

function Labelling({ source, row, state }: { source: Source; row: Fields; state: State }) {
  const say = useWords();
  const [remark, setRemark] = useState(row.remark);
  const [label, setLabel] = useState(row.label);
  const [told, setTold] = useState("");
  const put = (next: string | null) => {
    setLabel(next);
    source.label(row, next, next ? remark : "").then(() => setTold(say("saved")), (error) => setTold(String(error.message ?? error)));
  };
  return (
    <section class="card">
      <h2>{say("label")}</h2>
      {state.labels === null ? <p class="help">{say("labelsNeed")}</p> : (
        <>
          <div class="choices-row" role="group" aria-label={say("label")}>
            {(["right", "wrong", "unsure"] as const).map((choice) => (
              <button type="button" key={choice} class={`label-${choice}`} aria-pressed={label === choice}
                onClick={() => put(label === choice ? null : choice)}>{say(choice)}</button>
            ))}
          </div>
          <label class="remark">{say("remark")}
            <textarea rows={2} value={remark} onInput={(event) => setRemark(event.currentTarget.value)} />
          </label>
          <button type="button" disabled={!label} onClick={() => put(label)}>{say("save")}</button>
          <p class="help" role="status">{told || state.labels}</p>
        </>
      )}
    </section>
  );
}

function Explaining({ source, row, state, asked }: { source: Source; row: Fields; state: State; asked: number }) {
  const say = useWords();
  const [found, setFound] = useState<Explained | null>(null);
  const [told, setTold] = useState("");
  const before = useRef(asked);
  const ask = () => {
    setTold(say("explaining"));
    source.explain(row.n).then((explained) => (setFound(explained), setTold("")), (error) => setTold(String(error.message ?? error)));
  };
  useEffect(() => {
    if (asked !== before.current && state.explain) ask();
    before.current = asked;
  }, [asked]);
  return (
    <section class="card">
      <h2>{say("explain")}</h2>
      {state.explain ? <button type="button" onClick={ask}>{say("explain")}</button> : <p class="help">{say("explainNeeds")}</p>}
      {told && <p class="help" role="status">{told}</p>}
      {found && <pre class="json explained"><Visible text={found.text} /></pre>}
    </section>
  );
}

function JsonBlock({ row }: { row: WholeRow }) {
  const say = useWords();
  const [open, setOpen] = useState(false);
  return (
    <details class="block" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary><h2>{say("json")}</h2></summary>
      {open && <pre class="json"><Visible text={JSON.stringify(row.row, null, 2).slice(0, 400_000)} /></pre>}
    </details>
  );
}

const signed = (value: number) => `${value > 0 ? "+" : ""}${value.toFixed(2)}`;

/** The rollouts of one task, side by side. */
export function GroupPage({ source, n, open, overSteps }: {
  source: Source; n: number; open: (row: Fields) => void; overSteps: (task: string) => void;
}) {
  const say = useWords();
  const [group, setGroup] = useState<WholeGroup | null>(null);
  const [problem, setProblem] = useState("");
  const [differing, setDiffering] = useState(false);
  useEffect(() => {
    source.group(n).then(setGroup, (error) => setProblem(String(error.message ?? error)));
  }, [n]);
  if (problem) return <p class="problem" role="alert">{problem}</p>;
  if (!group) return <p class="faint">{say("loading")}</p>;
  const { rows, size } = group;
  const rated = rows.filter((row) => row.success !== null);
  const rewards = rows.flatMap((row) => (row.reward === null ? [] : [row.reward]));
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
  const spread = Math.sqrt(rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0) / rewards.length);
  const here = rows.find((row) => row.n === n);
  const task = rows[0]?.task ?? "";
  return (
    <>
      <section class="card">
        <h2>{size > rows.length ? say("someOfGroup", { count: rows.length, size }) : say("ofGroup", { count: size })} {task && <button type="button" class="link" title={say("onePrompt")} onClick={() => overSteps(task)}><Visible text={task} /></button>}</h2>
        <p class="help">
          {say("successRate")} {percent(rated.length ? rated.filter((row) => row.success).length / rated.length : null)}
          {rewards.length > 0 && <> · {say("meanReward")} {short(mean)} · {say("spread")} {short(spread)}. {say("advantageHelp")}</>}
        </p>
        {here && rows.length > 1 && (
          <button type="button" aria-pressed={differing} onClick={() => setDiffering(!differing)}>{say("difference")}: <Visible text={here.id || `#${n}`} /></button>
        )}
        <Turns turns={promptOf(dict(rows[0]?.row)).slice(-1)} label={say("prompt")} />
        {rows[0]?.reference && <p>{say("reference")}: <Visible text={rows[0].reference} /></p>}
      </section>
      <ul class="side-by-side">
        {rows.map((row) => (
          <li class={`card${row.n === n ? " here" : ""}`} key={row.n}>
            <p class="verdict-line"><Verdict row={row} /> <button type="button" class="link" onClick={() => open(row)}><Visible text={row.id || `#${row.n}`} /></button></p>
            <p class="help">
              {row.reward !== null && spread > 0 && <>{say("advantage")} {signed((row.reward - mean) / spread)} · </>}{say("chars")} {short(row.chars)}
            </p>
            {differing && here && row.n !== n ? <Difference from={answerOf(dict(here.row))} to={answerOf(dict(row.row))} />
            : <Text text={answerOf(dict(row.row))} boxed={row.boxed} label={say("answer")} />}
            <p class="help"><Visible text={row.problem || row.reason} /></p>
          </li>
        ))}
      </ul>
    </>
  );
}
