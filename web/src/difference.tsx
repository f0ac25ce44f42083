// The words that one text has and another has not.
import { Visible } from "./text";

const MOST_WORDS = 1_200;
export type Change = "same" | "gone" | "new";

/** The words of both texts in order: those of both, those of the first alone (gone), those of the second alone (new). */
export function changes(from: string, to: string): [Change, string][] {
  const [a, b] = [from, to].map((text) => text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? []);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const middle = longest(a.slice(start, a.length - end), b.slice(start, b.length - end));
  const found: [Change, string][] = [["same", a.slice(0, start).join("")], ...middle, ["same", a.slice(a.length - end).join("")]];
  return found.filter(([, text]) => text);
}

/** By the longest common subsequence; of texts that are too long for it, the first is gone and the second is new. */
function longest(a: string[], b: string[]): [Change, string][] {
  if (a.length > MOST_WORDS || b.length > MOST_WORDS) return [["gone", a.join("")], ["new", b.join("")]];
  const width = b.length + 1;
  const common = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j] ? common[(i + 1) * width + j + 1] + 1 : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  const found: [Change, string][] = [];
  const add = (kind: Change, text: string) => {
    const last = found[found.length - 1];
    if (last?.[0] === kind) last[1] += text;
    else found.push([kind, text]);
  };
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      add("same", a[i]);
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && common[(i + 1) * width + j] >= common[i * width + j + 1])) add("gone", a[i++]);
    else add("new", b[j++]);
  }
  return found;
}

export function Difference({ from, to }: { from: string; to: string }) {
  return (
    <div class="said">
      {changes(from, to).map(([kind, text], place) =>
        kind === "same" ? <Visible key={place} text={text} /> : kind === "gone" ? <del key={place}><Visible text={text} /></del> : <ins key={place}><Visible text={text} /></ins>)}
    </div>
  );
}
