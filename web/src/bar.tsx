// The bar above the page: the search, the active filters, and a menu to add a filter.
import { useEffect, useRef, useState } from "preact/hooks";
import { withFilter } from "./address";
import { Visible } from "./text";
import type { Filters } from "./types";
import { useNamed, useWords, type Word } from "./words";

const CHOICES: Record<string, string[] | null> = {
  status: ["judged", "filtered", "failed", "unreadable"], success: ["yes", "no"], reward: null, step: null, task: null, rule: null,
  stage: null, shape: null, cause: null, part: null, group: ["mixed", "all right", "all wrong", "all filtered", "all failed", "same reward", "single"],
  prompts: ["varies", "always right", "never right", "same reward", "single"],
  label: ["right", "wrong", "unsure", "none"], change: ["any", "lost", "gained", "failed", "mended", "reward", "new", "same"],
  chars: null, seconds: null, cost: null, id: null,
};
const RANGES: Record<string, string> = { reward: "0..0.5", step: "10..20", chars: "1000..", seconds: "0.1..", cost: "0.01..", part: "style:0..0.5" };
const WAIT = 90;

export function SearchBox({ filters, set }: { filters: Filters; set: (filters: Filters) => void }) {
  const say = useWords();
  const [words, setWords] = useState(filters.q ?? "");
  const timer = useRef(0);
  useEffect(() => setWords(filters.q ?? ""), [filters.q]);
  const type = (value: string) => {
    setWords(value);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => set(withFilter(filters, "q", value)), WAIT);
  };
  return <input id="search" type="search" placeholder={say("search")} aria-label={say("search")} value={words} onInput={(event) => type(event.currentTarget.value)} />;
}

export function FilterBar({ filters, set }: { filters: Filters; set: (filters: Filters) => void }) {
  const say = useWords();
  const named = useNamed();
  const held = Object.entries(filters).filter(([key]) => key !== "q");
  return (
    <div class="filters" role="group" aria-label={say("filters")}>
      {held.map(([key, value]) => (
        <span class="filter" key={key}>
          {named(key)}: <b><Visible text={named(value)} /></b>
          <button type="button" class="plain" aria-label={`${say("remove")} ${named(key)}`} onClick={() => set(withFilter(filters, key, ""))}>×</button>
        </span>
      ))}
      {held.length > 1 && <button type="button" class="link" onClick={() => set(filters.q ? { q: filters.q } : {})}>{say("clear")}</button>}
      <MoreFilter set={(key, value) => set(withFilter(filters, key, value))} />
    </div>
  );
}

function MoreFilter({ set }: { set: (key: string, value: string) => void }) {
  const say = useWords();
  const named = useNamed();
  const [key, setKey] = useState("status");
  const [value, setValue] = useState("");
  const choices = CHOICES[key];
  const add = (chosen: string) => chosen && (set(key, chosen), setValue(""));
  return (
    <details class="choice">
      <summary>+ {say("addFilter")}</summary>
      <form class="choices" onSubmit={(event) => (event.preventDefault(), add(value))}>
        <select aria-label={say("addFilter")} value={key} onChange={(event) => (setKey(event.currentTarget.value), setValue(""))}>
          {Object.keys(CHOICES).map((name) => <option key={name} value={name}>{named(name)}</option>)}
        </select>
        {choices ? (
          <div class="choices-row">{choices.map((choice) => <button type="button" key={choice} onClick={() => add(choice)}>{say(choice as Word)}</button>)}</div>
        ) : (
          <div class="choices-row">
            <input aria-label={say("value")} placeholder={RANGES[key] ?? say("value")} value={value} onInput={(event) => setValue(event.currentTarget.value)} />
            <button type="button" onClick={() => add(value)}>{say("add")}</button>
          </div>
        )}
      </form>
    </details>
  );
}
