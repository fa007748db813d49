/** How long a tool may take: time in which it asks a person is not counted, and one that does not stop is left behind. */
import type { ToolContext, ToolResult, ToolSpec } from "../domain/index.ts";
import { deferred } from "../stdx/index.ts";

const MOST_MS = 30 * 60_000;
/** How long a tool that was told to stop may take to say what came of it. */
const STOP_MS = 5_000;
/** Node takes no longer timer. */
const LONGEST_MS = 2 ** 31 - 1;

export async function inTime(
  { timeouts = {} }: { readonly timeouts?: Readonly<Record<string, number>> | undefined },
  { name, timeoutMs: own = MOST_MS }: ToolSpec,
  context: ToolContext,
  run: (context: ToolContext) => Promise<ToolResult>,
): Promise<ToolResult> {
  const timeoutMs = wishedFor(name, timeouts) ?? own;
  if (timeoutMs === Infinity) return run(context);
  const late = new AbortController();
  const given = new AbortController(); // keeps what `any` holds weakly
  using clock = new Countdown(timeoutMs, () => late.abort(new DOMException("it took too long", "TimeoutError")));
  const forward = (): void => given.abort(context.signal.reason);
  if (context.signal.aborted) forward();
  context.signal.addEventListener("abort", forward, { once: true });
  const signal = AbortSignal.any([given.signal, late.signal]);
  using stopped = leftBehind(signal);
  const ran = run({
    ...context,
    signal,
    ask: (question, options) => clock.paused(context.ask(question, options)),
    ...(context.call !== undefined && {
      call: (tool, input) => clock.paused(context.call?.(tool, input) as Promise<ToolResult>),
    }),
  });
  try {
    const result = await Promise.race([ran, stopped.longAgo]);
    if (!late.signal.aborted || context.signal.aborted) {
      return (
        result ?? { outcome: "cancelled", text: `[${name} did not stop when it was cancelled, and may still go on]` }
      );
    }
    const text = `${result === undefined ? "" : `${result.text}\n`}[${name} took longer than ${timeoutMs / 1000} s and was stopped${result === undefined ? "; it did not answer, and may still go on" : ""}]`;
    return { ...result, outcome: "timed_out", text };
  } finally {
    context.signal.removeEventListener("abort", forward);
    ran.catch(() => undefined); // of one that was left behind
  }
}

/** What says most of the name counts. */
function wishedFor(name: string, timeouts: Readonly<Record<string, number>>): number | undefined {
  const fitting = Object.keys(timeouts).filter((key) =>
    key.endsWith("*") ? name.startsWith(key.slice(0, -1)) : key === name,
  );
  const [best] = fitting.toSorted((a, b) => Number(b === name) - Number(a === name) || b.length - a.length);
  const seconds = best === undefined ? undefined : timeouts[best];
  return seconds === undefined ? undefined : seconds * 1000;
}

/** Stops listening in the end: as long as someone listens to a signal of `any`, Node keeps it, and the call with it. */
function leftBehind(signal: AbortSignal): Disposable & { readonly longAgo: Promise<undefined> } {
  const late = deferred<undefined>();
  const wait = (): void => void setTimeout(() => late.resolve(undefined), STOP_MS).unref();
  if (signal.aborted) wait();
  else signal.addEventListener("abort", wait, { once: true });
  return { longAgo: late.promise, [Symbol.dispose]: () => signal.removeEventListener("abort", wait) };
}

class Countdown implements Disposable {
  #leftMs: number;
  #since = 0;
  #pauses = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #over: () => void;

  constructor(ms: number, over: () => void) {
    this.#leftMs = ms;
    this.#over = over;
    this.#go();
  }

  /** Stands still until it is settled. */
  async paused<T>(waiting: Promise<T>): Promise<T> {
    if (this.#pauses++ === 0) this.#stop();
    try {
      return await waiting;
    } finally {
      if (--this.#pauses === 0) this.#go();
    }
  }

  [Symbol.dispose](): void {
    this.#pauses = Infinity; // nothing starts it again
    this.#stop();
  }

  #go(): void {
    this.#since = performance.now();
    this.#timer = setTimeout(this.#over, Math.min(this.#leftMs, LONGEST_MS));
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#leftMs = Math.max(0, this.#leftMs - (performance.now() - this.#since));
  }
}
