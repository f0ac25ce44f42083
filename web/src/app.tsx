import { useEffect, useRef, useState } from "preact/hooks";
import { usePlace } from "./address";
import { FilterBar, SearchBox } from "./bar";
import { short } from "./numbers";
import { OverviewPage } from "./overview";
import { GroupPage, RowPage } from "./rollout";
import { GONE } from "./server";
import { RowsPage } from "./table";
import { Typeset } from "./text";
import type { Fields, Filters, Source, State, WholeRow } from "./types";
import { LanguageOf, useWords, type Language } from "./words";

const ASK_EVERY = 600;

/** A choice that the browser remembers, if it lets the page store anything. */
function useKept<T extends string>(name: string, first: T): [T, (value: T) => void] {
  const [value, setValue] = useState<T>(() => {
    try {
      return (localStorage.getItem(name) as T | null) ?? first;
    } catch {
      return first;
    }
  });
  return [value, (next) => {
    setValue(next);
    try {
      localStorage.setItem(name, next);
    } catch {
      // Some browsers let a file from disk store nothing
    }
  }];
}

function useFollowed(source: Source): [State | null, string] {
  const [state, setState] = useState<State | null>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let timer = 0;
    let ended = false;
    const ask = async () => {
      try {
        const next = await source.state();
        setState((before) => (before && same(before, next) ? before : next));
        setProblem("");
        if (next.report) return;
      } catch (error) {
        setProblem(String((error as Error).message ?? error));
      }
      if (!ended) timer = window.setTimeout(ask, document.hidden ? ASK_EVERY * 5 : ASK_EVERY);
    };
    void ask();
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, []);
  return [state, problem];
}

const same = (one: State, other: State) =>
  one.version === other.version && one.epoch === other.epoch && one.reading === other.reading;

export function App({ source }: { source: Source }) {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const [language, setLanguage] = useKept<Language>("astuner-language", navigator.language.startsWith("zh") ? "zh" : "en");
  const [theme, setTheme] = useKept<string>("astuner-theme", dark ? "dark" : "light");
  const [typeset, setTypeset] = useKept<"yes" | "no">("astuner-formulas", "yes");
  document.documentElement.dataset.theme = theme;
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  return (
    <LanguageOf.Provider value={language}>
      <Typeset.Provider value={typeset === "yes"}>
        <Frame source={source} theme={theme}
          turnTheme={() => setTheme(theme === "dark" ? "light" : "dark")}
          turnLanguage={() => setLanguage(language === "zh" ? "en" : "zh")}
          typeset={typeset === "yes"} turnTypeset={() => setTypeset(typeset === "yes" ? "no" : "yes")} />
      </Typeset.Provider>
    </LanguageOf.Provider>
  );
}

interface Turns {
  theme: string;
  turnTheme: () => void;
  turnLanguage: () => void;
  typeset: boolean;
  turnTypeset: () => void;
}

function Frame({ source, theme, turnTheme, turnLanguage, typeset, turnTypeset }: { source: Source } & Turns) {
  const say = useWords();
  const [place, go] = usePlace();
  const [state, problem] = useFollowed(source);
  const [total, setTotal] = useState<number | null>(null);
  const [explainAsked, setExplainAsked] = useState(0);
  const [labelled, setLabelled] = useState(0);
  const current = useRef<WholeRow | null>(null);
  const setFilters = (filters: Filters) => go({ filters, view: place.view === "row" || place.view === "group" ? "rows" : place.view });
  const openRow = (row: Fields, at = -1) => go({ view: "row", n: row.n, at });
  const overSteps = (task: string) => go({ view: "overview", filters: { task } });
  const wish = useRef<number | null>(null);
  const step = async (by: number) => {
    const order = place.sort || (state?.earlier ? "change" : "row");
    // Step from the target of the last key press, because that row may not have arrived yet
    const from = wish.current ?? (place.at < 0 ? place.n - 1 : place.at);
    const at = Math.max(0, from + by);
    if (at === from) return;
    wish.current = at;
    const found = await source.rows(place.filters, order, at, 1).catch(() => null);
    if (wish.current !== at) return;
    wish.current = null;
    if (!found) return;
    setTotal(found.total);
    if (found.rows[0]) go({ view: "row", n: found.rows[0].n, at });
    else if (found.total - 1 > place.at) {
      wish.current = found.total;
      await step(-1);
    }
  };
  const label = async (name: string | null) => {
    const row = current.current;
    if (!row || state?.labels == null) return;
    await source.label(row, name, name ? row.remark : "");
    setLabelled((count) => count + 1);
  };
  useKeys({
    "/": () => document.getElementById("search")?.focus(),
    Escape: () => (place.view === "row" || place.view === "group") && go({ view: "rows" }),
    m: turnTypeset,
    ...(place.view === "row" && {
      j: () => step(1), k: () => step(-1), ArrowRight: () => step(1), ArrowLeft: () => step(-1),
      1: () => label("right"), 2: () => label("wrong"), 3: () => label("unsure"), 0: () => label(null),
      g: () => go({ view: "group" }), e: () => setExplainAsked((count) => count + 1),
    }),
  });
  const version = state?.version ?? 0;
  const tab = (view: "overview" | "rows", name: string) => (
    <button type="button" class="tab" aria-current={place.view === view ? "page" : undefined} onClick={() => go({ view })}>{name}</button>
  );
  return (
    <>
      <header>
        <h1>{state?.name ?? "astuner"}</h1>
        <nav aria-label={say("rows")}>
          {tab("overview", say("overview"))}
          {tab("rows", state ? `${say("rows")} · ${short(place.view === "rows" && total !== null ? total : state.rows)}` : say("rows"))}
        </nav>
        <SearchBox filters={place.filters} set={setFilters} />
        <span class="tools">
          <button type="button" class="plain" onClick={turnTypeset} aria-pressed={typeset} title={say("typeset")} aria-label={say("typeset")}>∑</button>
          <button type="button" class="plain" onClick={turnTheme} title={say("theme")} aria-label={say("theme")}>◐</button>
          <button type="button" class="plain" onClick={turnLanguage}>{say("language")}</button>
        </span>
      </header>
      <main>
        {problem && <p class="problem" role="alert">{problem === GONE ? say("gone") : problem}</p>}
        {state && state.reading !== null && (
          <p class="note reading">
            <progress value={state.reading} aria-label={say("reading", { count: "" })} /> {say("reading", { count: short(state.rows) })}
          </p>
        )}
        {state?.report && state.report.of > state.rows && <p class="note">{say("sample", { shown: state.rows, of: state.report.of })}</p>}
        <FilterBar filters={place.filters} set={setFilters} />
        {state && place.view === "overview" && (
          <OverviewPage source={source} name={state.name} filters={place.filters} version={version} theme={theme}
            pick={(found) => go({ view: "rows", filters: { ...place.filters, ...found }, at: -1 })} />
        )}
        {state && place.view === "rows" && (
          <RowsPage source={source} filters={place.filters} sort={place.sort} columns={place.columns} version={version} epoch={state.epoch}
            comparing={state.earlier !== null} open={openRow} setSort={(sort) => go({ sort })} setColumns={(columns) => go({ columns })} onTotal={setTotal} />
        )}
        {state && place.view === "row" && (
          <>
            <Steps step={step} at={place.at} total={total} back={() => go({ view: "rows" })} group={() => go({ view: "group" })} />
            <RowPage source={source} state={state} n={place.n} version={state.epoch} explainAsked={explainAsked} onLabelled={labelled} overSteps={overSteps}
              onLoaded={(row) => {
                current.current = row;
              }} />
          </>
        )}
        {state && place.view === "group" && (
          <>
            <p class="steps"><button type="button" onClick={() => go({ view: "rows" })}>← {say("back")}</button></p>
            <GroupPage source={source} n={place.n} open={openRow} overSteps={overSteps} />
          </>
        )}
      </main>
    </>
  );
}

function Steps({ step, at, total, back, group }: { step: (by: number) => void; at: number; total: number | null; back: () => void; group: () => void }) {
  const say = useWords();
  return (
    <p class="steps">
      <button type="button" onClick={back}>← {say("back")}</button>
      <button type="button" onClick={() => step(-1)}>‹ {say("previous")}</button>
      <span class="faint">{at >= 0 ? `${short(at + 1)}${total ? ` / ${short(total)}` : ""}` : ""}</span>
      <button type="button" onClick={() => step(1)}>{say("next")} ›</button>
      <button type="button" onClick={group}>{say("whole")}</button>
      <span class="help keys" title={say("keysHelp")}>{say("keys")}: j k 1 2 3 g m e / Esc</span>
    </p>
  );
}

/** Calls a function for each key of the page, unless the user types in a field. */
function useKeys(keys: Record<string, () => unknown>): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
      if (event.ctrlKey || event.metaKey || event.altKey || (typing && event.key !== "Escape")) return;
      if (typing) {
        target.blur();
        return;
      }
      // Charts use the arrow keys themselves
      if (target.getAttribute("role") === "application") return;
      const act = Object.hasOwn(latest.current, event.key) ? latest.current[event.key] : undefined;
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}
