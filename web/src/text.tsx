// Shows text from rollouts. Such text is never run: it becomes text nodes, and formulas that KaTeX builds without trust.
import katex from "katex";
import { createContext, type ComponentChildren } from "preact";
import { useContext, useMemo, useState } from "preact/hooks";
import { useWords } from "./words";

const FIRST_CHARS = 12_000;
const MOST_FORMULA = 2_000;
const MOST_FORMULAS = 200;
const MOST_MARKS = 4_000;
// Invisible characters, and those that reverse the direction of text: an answer may hide behind them. Joiners stay,
// because emoji and scripts need them
const HIDDEN = /(?![\n\t\r\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** Whether formulas are typeset. */
export const Typeset = createContext(true);

export interface Piece {
  kind: "text" | "formula";
  /** The text to show, or the formula for KaTeX. */
  text: string;
  /** The same piece as it stands in the text. */
  source: string;
  display: boolean;
}

const OPENERS: [string, string, boolean][] = [["$$", "$$", true], ["\\[", "\\]", true], ["\\(", "\\)", false], ["$", "$", false]];

const OPENING = /\$|\\[[(]|\\boxed\s*\{/g;

/** The formulas of a text and the texts between them, found in one pass. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let start = 0;
  let place = 0;
  let count = 0;
  const gone = new Set<string>();
  while (place < text.length && count < MOST_FORMULAS) {
    OPENING.lastIndex = place;
    const next = OPENING.exec(text);
    if (!next) break;
    place = next.index;
    const formula = formulaAt(text, place, gone);
    if (!formula) {
      place += text[place] === "$" ? 1 : 2;
      continue;
    }
    if (place > start) found.push(plain(text.slice(start, place)));
    found.push(formula);
    place += formula.source.length;
    start = place;
    count += 1;
  }
  if (start < text.length) found.push(plain(text.slice(start)));
  return found;
}

const plain = (text: string): Piece => ({ kind: "text", text, source: text, display: false });

function formulaAt(text: string, place: number, gone: Set<string>): Piece | null {
  if (text.startsWith("\\boxed", place)) {
    const end = closing(text, text.indexOf("{", place));
    const source = text.slice(place, end);
    // An empty box only names the form of an answer
    return end < 0 || /\{\s*\}$/.test(source) ? null : { kind: "formula", text: source.replace(/^\\boxed\s*/, "\\boxed"), source, display: false };
  }
  for (const [open, close, display] of OPENERS) {
    if (!text.startsWith(open, place)) continue;
    const from = place + open.length;
    // Do not look again for an end that was not found once, so that the time stays linear
    const end = gone.has(close) ? -1 : text.indexOf(close, from);
    if (end < 0) gone.add(close);
    if (end <= from || end - from > MOST_FORMULA) return null;
    const inside = text.slice(from, end);
    // Not a formula: the prices in `$5 and $6`
    if (open === "$" && (/^\s|\s$|\n/.test(inside) || /^[\d.,]+\s+[a-z]{2}/i.test(inside) || /^\d/.test(text.slice(end + 1, end + 2)))) return null;
    return { kind: "formula", text: inside, source: text.slice(place, end + close.length), display };
  }
  return null;
}

function closing(text: string, open: number): number {
  let depth = 0;
  const most = Math.min(text.length, open + MOST_FORMULA);
  for (let i = open; i >= 0 && i < most; i++) {
    if (text[i] === "\\") i += 1;
    else if (text[i] === "{") depth += 1;
    else if (text[i] === "}" && --depth === 0) return i + 1;
  }
  return -1;
}

function Formula({ text, source, display }: { text: string; source: string; display: boolean }) {
  const made = useMemo(() => {
    const place = document.createElement("span");
    try {
      katex.render(text, place, {
        displayMode: display, trust: false, strict: "ignore", throwOnError: true, maxExpand: 200, maxSize: 20, output: "htmlAndMathml",
      });
    } catch {
      // KaTeX cannot read it: show it as text
      return null;
    }
    return [...place.childNodes];
  }, [text, display]);
  if (!made) return <Visible text={source} />;
  return <span class="formula" title={source} ref={(place) => place?.replaceChildren(...made)} />;
}

/** The same as plain text, for places that take no elements. */
export const shown = (text: string) => text.replace(HIDDEN, (found) => `U+${found.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`);

/** The text, with a mark for each invisible character. */
export function Visible({ text }: { text: string }) {
  const parts: ComponentChildren[] = [];
  let start = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (parts.length > MOST_MARKS) break;
    if (match.index > start) parts.push(text.slice(start, match.index));
    const code = match[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
    parts.push(<span class="hidden-char">{`U+${code}`}</span>);
    start = match.index + match[0].length;
  }
  // Too many to mark each with its code: the others get one common sign
  if (start < text.length) parts.push(parts.length > MOST_MARKS ? text.slice(start).replace(HIDDEN, "\uFFFD") : text.slice(start));
  return <>{parts}</>;
}

/**
 * A rollout's text of any length. Its last box is marked unless `boxed` is null. Formulas are typeset only in texts of at most
 * `FIRST_CHARS` characters.
 */
export function Text({ text, boxed = null, label }: { text: string; boxed?: string | null; label: string }) {
  const say = useWords();
  const typeset = useContext(Typeset);
  const [all, setAll] = useState(false);
  const long = text.length > FIRST_CHARS;
  const shown = long && !all ? text.slice(0, FIRST_CHARS) : text;
  const found = useMemo(() => (long ? [plain(shown)] : pieces(shown)), [shown, long]);
  const box = boxed === null ? -1 : found.findLastIndex((piece) => /\\f?box(?:ed)?/.test(piece.source));
  return (
    <div class="said" dir="auto" role="group" aria-label={label}>
      {found.map((piece, place) => {
        const inside =
          piece.kind === "formula" && typeset ? <Formula {...piece} />
          : place === box && piece.kind === "text" ? <Boxed text={piece.source} />
          : <Visible text={piece.source} />;
        return place === box && piece.kind === "formula" ? <mark class="box" key={`${place} ${typeset}`}>{inside}</mark> : <span key={`${place} ${typeset}`}>{inside}</span>;
      })}
      {long && (
        <p>
          <button type="button" onClick={() => setAll(!all)}>
            {all ? say("showLess") : say("showAll", { count: text.length.toLocaleString("en") })}
          </button>
        </p>
      )}
    </div>
  );
}

function Boxed({ text }: { text: string }) {
  const start = Math.max(text.lastIndexOf("\\boxed"), text.lastIndexOf("\\fbox"));
  return (
    <>
      <Visible text={text.slice(0, start)} />
      <mark class="box">
        <Visible text={text.slice(start)} />
      </mark>
    </>
  );
}
