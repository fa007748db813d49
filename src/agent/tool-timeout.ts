/**
 * Limits how long a tool may run. Time in which it waits for a person or another tool does not count. A tool that
 * ignores the abort signal is abandoned.
 */
import type { ToolContext, ToolResult, ToolSpec } from "../domain/index.ts";
import { deferred } from "../stdx/index.ts";

const DEFAULT_TIMEOUT_MS = 30 * 60_000;
/** How long an aborted tool may take to return its result. */
const STOP_GRACE_MS = 5_000;
/** The longest delay that a Node timer supports. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export async function runWithTimeout(
  { timeouts = {} }: { readonly timeouts?: Readonly<Record<string, number>> | undefined },
  { name, timeoutMs: toolTimeoutMs = DEFAULT_TIMEOUT_MS }: ToolSpec,
  context: ToolContext,
  run: (context: ToolContext) => Promise<ToolResult>,
): Promise<ToolResult> {
  const timeoutMs = findConfiguredTimeout(name, timeouts) ?? toolTimeoutMs;
  if (timeoutMs === Infinity) return run(context);
  const timeout = new AbortController();
  const cancellation = new AbortController(); // keeps a strong reference to a source that `AbortSignal.any` holds weakly
  using countdown = new Countdown(timeoutMs, () =>
    timeout.abort(new DOMException("the tool timed out", "TimeoutError")),
  );
  const forward = (): void => cancellation.abort(context.signal.reason);
  if (context.signal.aborted) forward();
  context.signal.addEventListener("abort", forward, { once: true });
  const signal = AbortSignal.any([cancellation.signal, timeout.signal]);
  using grace = startStopGrace(signal);
  const running = run({
    ...context,
    signal,
    ask: (question, options) => countdown.pauseDuring(context.ask(question, options)),
    ...(context.call !== undefined && {
      call: (tool, input) => countdown.pauseDuring(context.call?.(tool, input) as Promise<ToolResult>),
    }),
  });
  try {
    const result = await Promise.race([running, grace.expired]);
    if (!timeout.signal.aborted || context.signal.aborted) {
      return (
        result ?? {
          outcome: "cancelled",
          text: `[${name} did not stop when it was cancelled and may still be running]`,
        }
      );
    }
    const text = `${result === undefined ? "" : `${result.text}\n`}[${name} took longer than ${timeoutMs / 1000} s and was stopped${result === undefined ? "; it did not respond and may still be running" : ""}]`;
    return { ...result, outcome: "timed_out", text };
  } finally {
    context.signal.removeEventListener("abort", forward);
    running.catch(() => undefined); // the rejection of an abandoned tool has no other handler
  }
}

/** The most specific key applies. */
function findConfiguredTimeout(name: string, timeouts: Readonly<Record<string, number>>): number | undefined {
  const matching = Object.keys(timeouts).filter((key) =>
    key.endsWith("*") ? name.startsWith(key.slice(0, -1)) : key === name,
  );
  const [best] = matching.toSorted((a, b) => Number(b === name) - Number(a === name) || b.length - a.length);
  const seconds = best === undefined ? undefined : timeouts[best];
  return seconds === undefined ? undefined : seconds * 1000;
}

/**
 * Resolves `expired` when an aborted tool has had its grace period. Removes its listener at the end: Node keeps a
 * signal of `AbortSignal.any`, and the call with it, as long as the signal has a listener.
 */
function startStopGrace(signal: AbortSignal): Disposable & { readonly expired: Promise<undefined> } {
  const expired = deferred<undefined>();
  const wait = (): void => void setTimeout(() => expired.resolve(undefined), STOP_GRACE_MS).unref();
  if (signal.aborted) wait();
  else signal.addEventListener("abort", wait, { once: true });
  return { expired: expired.promise, [Symbol.dispose]: () => signal.removeEventListener("abort", wait) };
}

class Countdown implements Disposable {
  #leftMs: number;
  #since = 0;
  #pauses = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #onEnd: () => void;

  constructor(ms: number, onEnd: () => void) {
    this.#leftMs = ms;
    this.#onEnd = onEnd;
    this.#start();
  }

  /** Pauses the countdown until the promise settles. */
  async pauseDuring<T>(waiting: Promise<T>): Promise<T> {
    if (this.#pauses++ === 0) this.#stop();
    try {
      return await waiting;
    } finally {
      if (--this.#pauses === 0) this.#start();
    }
  }

  [Symbol.dispose](): void {
    this.#pauses = Infinity;
    this.#stop();
  }

  #start(): void {
    this.#since = performance.now();
    this.#timer = setTimeout(this.#onEnd, Math.min(this.#leftMs, MAX_TIMER_MS));
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#leftMs = Math.max(0, this.#leftMs - (performance.now() - this.#since));
  }
}
