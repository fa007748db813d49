/** Formats a trace for people: time, direction, content, and the latency of each answer. */
import {
  asObject,
  parseTraceEntry,
  asString,
  type TraceDirection,
  type MessageEntry,
  type TraceEntry,
} from "./trace-entry.ts";
import { SessionNames } from "./session-names.ts";
import {
  formatContentBlock,
  formatRpcError,
  formatRpcParams,
  quoteShortened,
  formatFields,
  shortenText,
  formatSessionUpdate,
} from "./format-message.ts";

interface TracedRequest {
  readonly at: number;
  readonly method: string;
  readonly direction: TraceDirection;
  readonly id: string;
}

/** Consecutive chunks of one text. */
interface ChunkRun {
  readonly at: number;
  readonly direction: TraceDirection;
  readonly key: string;
  readonly head: string;
  count: number;
  text: string;
}

const ARROWS = { in: "←", out: "→" } as const;
const OPPOSITE = { in: "out", out: "in" } as const;
/** Maximum number of open requests to remember; the oldest is dropped first. */
const MAX_OPEN_REQUESTS = 10_000;
/** Characters to keep of a text, of which only the beginning is shown. */
const PREVIEW_LENGTH = 1_000;

/**
 * `←` is incoming, `→` is outgoing, from the point of view of the recording side. Times are seconds since the first
 * entry.
 */
export async function* viewTrace(lines: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  const view = new TraceView();
  for await (const line of lines) yield* view.line(line);
  yield* view.end();
}

class TraceView {
  readonly #openRequests = new Map<string, TracedRequest>();
  readonly #names = new SessionNames();
  #start: number | undefined;
  #run: ChunkRun | undefined;

  line(text: string): string[] {
    if (text.trim() === "") return [];
    const entry = parseTraceEntry(text);
    if (entry === undefined) {
      return [...this.#flush(), `${"?".padStart(TIME_WIDTH)}   not a trace entry: ${quoteShortened(text)}`];
    }
    this.#start ??= entry.at;
    if (entry.kind === "message" && this.#joinRun(entry)) return [];
    const before = this.#flush();
    const row = this.#entry(entry);
    return row === undefined ? before : [...before, row];
  }

  end(): string[] {
    const unanswered = Array.from(this.#openRequests.values(), ({ at, direction, method, id }) =>
      this.#row(at, direction, `${method} #${id} was never answered`),
    );
    return [...this.#flush(), ...unanswered];
  }

  /** Undefined for the first chunk of a run, which is printed when the run ends. */
  #entry(entry: TraceEntry): string | undefined {
    switch (entry.kind) {
      case "noise":
        return this.#row(entry.at, entry.direction, `not JSON: ${quoteShortened(entry.line)}`);
      case "dropped":
        return this.#row(entry.at, undefined, `${entry.count} messages were skipped here`);
      case "message":
        if (entry.method === "session/update") return this.#update(entry);
        if (entry.method !== undefined) return this.#call(entry, entry.method);
        if (entry.id !== undefined) return this.#response(entry);
        return this.#row(entry.at, entry.direction, `not a message: ${formatFields(entry.message)}`);
    }
  }

  #response({ at, direction, id, error, result }: MessageEntry): string {
    const key = JSON.stringify(id);
    const request = this.#takeRequest(direction, key);
    const what =
      request === undefined ? `#${shortenText(key)} answers no request:` : `${request.method} #${request.id}`;
    const took = request === undefined ? "" : `in ${formatLatency(at - request.at)}`;
    const failed = error !== undefined && error !== null;
    const carries = failed ? [formatRpcError(error)] : [this.#session(result), formatFields(result, ["sessionId"])];
    return this.#row(at, direction, what, failed ? "failed" : "ok", took, ...carries);
  }

  #call(entry: MessageEntry, method: string): string {
    const { at, direction, id, params } = entry;
    const label = `${formatVia(entry)}${shortenText(method)}`;
    const key = id === undefined ? undefined : JSON.stringify(id);
    if (key !== undefined) this.#addRequest(entry, key, label);
    const number = key === undefined ? "" : `#${shortenText(key)}`;
    return this.#row(at, direction, label, number, this.#session(params), formatRpcParams(method, params));
  }

  #update(entry: MessageEntry): string | undefined {
    const { at, direction, params } = entry;
    const { update } = asObject(params);
    const piece = readChunk(entry);
    const kind = shortenText(asString(asObject(update)["sessionUpdate"]) ?? "session/update");
    const head = `${formatVia(entry)}${this.#session(params)} ${kind}`.trim();
    if (piece === undefined) return this.#row(at, direction, head, formatSessionUpdate(update));
    this.#run = { at, direction, key: piece.key, head, count: 1, text: piece.text };
    return undefined;
  }

  #addRequest({ at, direction }: MessageEntry, id: string, method: string): void {
    const [oldest] = this.#openRequests.keys();
    if (this.#openRequests.size >= MAX_OPEN_REQUESTS && oldest !== undefined) this.#openRequests.delete(oldest);
    this.#openRequests.set(direction + id, { at, direction, id: shortenText(id), method });
  }

  /** Returns and removes the request that a response in this direction answers. */
  #takeRequest(direction: TraceDirection, id: string): TracedRequest | undefined {
    const key = OPPOSITE[direction] + id;
    const request = this.#openRequests.get(key);
    this.#openRequests.delete(key);
    return request;
  }

  #session(value: unknown): string {
    const id = asString(asObject(value)["sessionId"]);
    return id === undefined ? "" : `[${this.#names.getName(id)}]`;
  }

  #joinRun(entry: MessageEntry): boolean {
    const run = this.#run;
    const piece = run === undefined ? undefined : readChunk(entry);
    if (run === undefined || piece === undefined || run.key !== piece.key) return false;
    run.count += 1;
    if (run.text.length < PREVIEW_LENGTH) run.text += piece.text.slice(0, PREVIEW_LENGTH);
    return true;
  }

  #flush(): string[] {
    const run = this.#run;
    this.#run = undefined;
    if (run === undefined) return [];
    return [
      this.#row(run.at, run.direction, run.head, run.count === 1 ? "" : `×${run.count}`, quoteShortened(run.text)),
    ];
  }

  #row(at: number, direction: TraceDirection | undefined, ...parts: readonly string[]): string {
    const seconds = ((at - (this.#start ?? at)) / 1000).toFixed(3).padStart(TIME_WIDTH);
    const arrow = direction === undefined ? " " : ARROWS[direction];
    return [seconds, arrow, ...parts.filter((part) => part !== "")].join(" ");
  }
}

const TIME_WIDTH = 9;

function formatLatency(ms: number): string {
  return ms < 10_000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** Shows the message inside a proxy envelope. */
function formatVia({ via }: MessageEntry): string {
  return via === undefined ? "" : `${via} › `;
}

/** A content chunk, with a key that identifies its text. */
function readChunk({ direction, via, method, params }: MessageEntry): { key: string; text: string } | undefined {
  if (method !== "session/update") return undefined;
  const { sessionId, update } = asObject(params);
  const { sessionUpdate, messageId, content } = asObject(update);
  if (asString(sessionUpdate)?.endsWith("_chunk") !== true || content === undefined) return undefined;
  const key = JSON.stringify([direction, via, sessionId, sessionUpdate, messageId ?? null]);
  return { key, text: formatContentBlock(content) };
}
