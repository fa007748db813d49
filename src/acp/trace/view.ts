/** Shows a trace to a person: when, which way, what, and how long each answer took. */
import { objectOf, readEntry, textOf, type Direction, type MessageEntry, type TraceEntry } from "./entry.ts";
import { SessionNames } from "./names.ts";
import { contentText, errorText, paramsText, quoted, rest, short, updateText } from "./words.ts";

interface Asked {
  readonly at: number;
  readonly method: string;
  readonly direction: Direction;
  readonly id: string;
}

/** Pieces of one text that came one after another. */
interface Run {
  readonly at: number;
  readonly direction: Direction;
  readonly key: string;
  readonly head: string;
  count: number;
  text: string;
}

const ARROWS = { in: "←", out: "→" } as const;
const OPPOSITE = { in: "out", out: "in" } as const;
/** Requests that wait for their answer; more than this, and the oldest is forgotten. */
const MAX_ASKED = 10_000;
/** Kept of a text of which only the beginning is shown. */
const PREVIEW = 1_000;

/** `←` came in to whoever wrote the trace, `→` went out. Times are seconds since the first entry. */
export async function* viewTrace(lines: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  const view = new View();
  for await (const line of lines) yield* view.line(line);
  yield* view.end();
}

class View {
  readonly #asked = new Map<string, Asked>();
  readonly #names = new SessionNames();
  #start: number | undefined;
  #run: Run | undefined;

  line(text: string): string[] {
    if (text.trim() === "") return [];
    const entry = readEntry(text);
    if (entry === undefined) {
      return [...this.#flush(), `${"?".padStart(TIME_WIDTH)}   no entry of a trace: ${quoted(text)}`];
    }
    this.#start ??= entry.at;
    if (entry.kind === "message" && this.#joins(entry)) return [];
    const before = this.#flush();
    const row = this.#entry(entry);
    return row === undefined ? before : [...before, row];
  }

  end(): string[] {
    const unanswered = Array.from(this.#asked.values(), ({ at, direction, method, id }) =>
      this.#row(at, direction, `${method} #${id} was never answered`),
    );
    return [...this.#flush(), ...unanswered];
  }

  /** Undefined where it is the first of a run, which is shown when the run is over. */
  #entry(entry: TraceEntry): string | undefined {
    switch (entry.kind) {
      case "noise":
        return this.#row(entry.at, entry.direction, `not JSON: ${quoted(entry.line)}`);
      case "dropped":
        return this.#row(entry.at, undefined, `${entry.count} messages were not written down here`);
      case "message":
        if (entry.method === "session/update") return this.#update(entry);
        if (entry.method !== undefined) return this.#call(entry, entry.method);
        if (entry.id !== undefined) return this.#response(entry);
        return this.#row(entry.at, entry.direction, `not a message: ${rest(entry.message)}`);
    }
  }

  #response({ at, direction, id, error, result }: MessageEntry): string {
    const key = JSON.stringify(id);
    const asked = this.#answered(direction, key);
    const what = asked === undefined ? `#${short(key)} answers nothing:` : `${asked.method} #${asked.id}`;
    const took = asked === undefined ? "" : `in ${latency(at - asked.at)}`;
    const failed = error !== undefined && error !== null;
    const carries = failed ? [errorText(error)] : [this.#session(result), rest(result, ["sessionId"])];
    return this.#row(at, direction, what, failed ? "failed" : "ok", took, ...carries);
  }

  #call(entry: MessageEntry, method: string): string {
    const { at, direction, id, params } = entry;
    const shown = `${viaText(entry)}${short(method)}`;
    const key = id === undefined ? undefined : JSON.stringify(id);
    if (key !== undefined) this.#ask(entry, key, shown);
    const number = key === undefined ? "" : `#${short(key)}`;
    return this.#row(at, direction, shown, number, this.#session(params), paramsText(method, params));
  }

  #update(entry: MessageEntry): string | undefined {
    const { at, direction, params } = entry;
    const { update } = objectOf(params);
    const piece = pieceOf(entry);
    const kind = short(textOf(objectOf(update)["sessionUpdate"]) ?? "session/update");
    const head = `${viaText(entry)}${this.#session(params)} ${kind}`.trim();
    if (piece === undefined) return this.#row(at, direction, head, updateText(update));
    this.#run = { at, direction, key: piece.key, head, count: 1, text: piece.text };
    return undefined;
  }

  #ask({ at, direction }: MessageEntry, id: string, method: string): void {
    const [oldest] = this.#asked.keys();
    if (this.#asked.size >= MAX_ASKED && oldest !== undefined) this.#asked.delete(oldest);
    this.#asked.set(direction + id, { at, direction, id: short(id), method });
  }

  /** What an answer in this direction belongs to. */
  #answered(direction: Direction, id: string): Asked | undefined {
    const key = OPPOSITE[direction] + id;
    const asked = this.#asked.get(key);
    this.#asked.delete(key);
    return asked;
  }

  #session(value: unknown): string {
    const id = textOf(objectOf(value)["sessionId"]);
    return id === undefined ? "" : `[${this.#names.of(id)}]`;
  }

  #joins(entry: MessageEntry): boolean {
    const run = this.#run;
    const piece = run === undefined ? undefined : pieceOf(entry);
    if (run === undefined || piece === undefined || run.key !== piece.key) return false;
    run.count += 1;
    if (run.text.length < PREVIEW) run.text += piece.text.slice(0, PREVIEW);
    return true;
  }

  #flush(): string[] {
    const run = this.#run;
    this.#run = undefined;
    if (run === undefined) return [];
    return [this.#row(run.at, run.direction, run.head, run.count === 1 ? "" : `×${run.count}`, quoted(run.text))];
  }

  #row(at: number, direction: Direction | undefined, ...parts: readonly string[]): string {
    const seconds = ((at - (this.#start ?? at)) / 1000).toFixed(3).padStart(TIME_WIDTH);
    const arrow = direction === undefined ? " " : ARROWS[direction];
    return [seconds, arrow, ...parts.filter((part) => part !== "")].join(" ");
  }
}

const TIME_WIDTH = 9;

function latency(ms: number): string {
  return ms < 10_000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** What is sent through a proxy to its successor is shown as what it carries. */
function viaText({ via }: MessageEntry): string {
  return via === undefined ? "" : `${via} › `;
}

/** A chunk of content, with what tells which text it belongs to. */
function pieceOf({ direction, via, method, params }: MessageEntry): { key: string; text: string } | undefined {
  if (method !== "session/update") return undefined;
  const { sessionId, update } = objectOf(params);
  const { sessionUpdate, messageId, content } = objectOf(update);
  if (textOf(sessionUpdate)?.endsWith("_chunk") !== true || content === undefined) return undefined;
  const key = JSON.stringify([direction, via, sessionId, sessionUpdate, messageId ?? null]);
  return { key, text: contentText(content) };
}
