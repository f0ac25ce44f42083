// Finds the turns of a rollout in its row: in the opening messages, the recorded model calls, or a chat transcript.
import type { Json } from "./types";

export interface Turn {
  role: string;
  text: string;
  thinking: string;
  calls: { name: string; input: string }[];
}

type Dict = { [key: string]: Json };
const isDict = (value: Json | undefined): value is Dict => typeof value === "object" && value !== null && !Array.isArray(value);

export const dict = (value: Json | undefined): Dict => (isDict(value) ? value : {});
export const words = (value: Json | undefined): string =>
  typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value, null, 1);

function turnOf(message: Dict): Turn {
  const turn: Turn = { role: words(message.role) || "?", text: "", thinking: words(message.reasoning_content), calls: [] };
  const blocks = Array.isArray(message.content) ? message.content : [message.content];
  const texts: string[] = [];
  for (const block of blocks) {
    if (!isDict(block)) texts.push(words(block));
    else if (block.type === "thinking") turn.thinking += words(block.thinking);
    else if (block.type === "tool_use" || block.type === "tool_call") turn.calls.push({ name: words(block.name), input: words(block.input ?? block.arguments) });
    else if (block.type === "tool_result") texts.push(words(block.output ?? block.content));
    else texts.push(words(block.text ?? block));
  }
  turn.text = texts.filter(Boolean).join("\n");
  for (const call of Array.isArray(message.tool_calls) ? message.tool_calls : []) {
    const made = dict(dict(call).function ?? call);
    turn.calls.push({ name: words(made.name), input: words(made.arguments) });
  }
  return turn;
}

const turnsOf = (messages: Json | undefined): Turn[] => (Array.isArray(messages) ? messages.filter(isDict).map(turnOf) : []);

/** The messages to an LLM judge, with its reply or the error. */
export function turnsOfCall(call: Dict): Turn[] {
  const said = (role: string, text: Json | undefined): Turn[] => (text ? [{ role, text: words(text), thinking: "", calls: [] }] : []);
  return [...turnsOf(call.messages), ...said("assistant", call.reply), ...said("error", call.error)];
}

/** The turns of the task, which open the rollout. */
export function promptOf(row: Dict): Turn[] {
  const task = dict(row.task);
  const turns = turnsOf(task.init_messages);
  const query = words(task.main_query);
  if (query && turns[turns.length - 1]?.text !== query) turns.push({ role: "user", text: query, thinking: "", calls: [] });
  return turns;
}

/** The turns of the agent and its tools. A recorded call repeats the turns of earlier calls; these are shown once. */
export function turnsAfter(row: Dict): Turn[] {
  const metadata = dict(dict(row.output).metadata);
  if (Array.isArray(row.trajectory) && row.trajectory.length) {
    const seen = new Set<string>();
    const turns: Turn[] = [];
    for (const call of row.trajectory.filter(isDict)) {
      const messages = [...(Array.isArray(call.messages) ? call.messages : []), call.response ?? null].filter(isDict);
      for (const message of messages) {
        const turn = turnOf(message);
        const told = JSON.stringify(turn);
        if (seen.has(told)) continue;
        seen.add(told);
        turns.push(turn);
      }
      if (call.error) turns.push({ role: "error", text: words(call.error), thinking: "", calls: [] });
    }
    return turns;
  }
  for (const messages of [metadata.messages, metadata.trajectory, metadata.conversation, row.messages, row.turns]) {
    const turns = turnsOf(messages);
    if (turns.length) return turns;
  }
  return [];
}

const parsed = (value: Json | undefined): Json => {
  if (typeof value !== "string") return value ?? null;
  try {
    return JSON.parse(value) as Json;
  } catch {
    return null;
  }
};

/** The tests that a task has, as pairs of input and expected output, in whichever of the usual forms. */
function testsOf(value: Json, depth = 0): { input: string; expected: string }[] {
  if (Array.isArray(value)) {
    return value.map((test) => (isDict(test) ? { input: words(test.input ?? test.assert), expected: words(test.output ?? test.expected) } : { input: words(test), expected: "" }));
  }
  if (!isDict(value) || depth > 3) return [];
  const [inputs, outputs] = [parsed(value.inputs), parsed(value.outputs)];
  if (Array.isArray(inputs) && Array.isArray(outputs)) return inputs.map((input, at) => ({ input: words(input), expected: words(outputs[at]) }));
  for (const key of ["tests", "test_cases", "input_output", "ground_truth", "answer", "reference"]) {
    const found = key in value ? testsOf(parsed(value[key]), depth + 1) : [];
    if (found.length) return found;
  }
  return [];
}

/** The failing test that a code judge's reason names by its number, with its input and what was expected. */
export function failingTest(row: Dict): { number: number; input: string; expected: string } | null {
  const named = /; test (\d{1,6}): /.exec(words(dict(row.judgement).reason));
  const test = named && testsOf(dict(dict(row.task).metadata))[Number(named[1]) - 1];
  return test ? { number: Number(named[1]), ...test } : null;
}
