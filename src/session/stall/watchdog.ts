/** Watches the events of a turn, and reports when it stalls. */
import type { EventBody, RunningTool } from "../../domain/index.ts";
import { deferred, hasWorked, sampleActivity, type Clock, type ActivitySample } from "../../stdx/index.ts";
import type { TurnTimeLimits } from "../time-limits.ts";
import { formatStall, type StallDetails } from "./message.ts";

export interface WatchdogOptions {
  readonly agent: string;
  readonly timeLimits: TurnTimeLimits;
  readonly clock: Clock;
  /** The marker of the processes that run the agent's tools, if there are any. */
  readonly childMarker: () => string | undefined;
  /** A number that changes whenever the agent sends something, even if nothing is recorded. */
  readonly activityCount: () => number | undefined;
  /** Tools that were running when a previous process died. */
  readonly tools: readonly RunningTool[];
  readonly pollMs?: number | undefined;
}

export interface Stall {
  readonly clock: StallDetails["clock"];
  readonly message: string;
}

const CHECK_MS = 250;
/**
 * An expired limit is confirmed by this many further checks, so that output that arrived while this process was
 * stopped is read first.
 */
const CONFIRMING_CHECKS = 4;
/**
 * A gap this long between two checks means that this process was stopped or the machine slept. Not every clock stops
 * then.
 */
const SUSPENDED_MS = 5_000;
/**
 * When this fraction of a limit has passed, the CPU use of the tool's processes is sampled, to compare it at the end.
 */
const SAMPLE_FROM = 0.75;

/** Events that show that the program is alive, but not that the turn makes progress. */
const NOISE: ReadonlySet<EventBody["type"]> = new Set([
  "output.text",
  "agent.raw",
  "notice",
  "process.started",
  "process.exited",
  "mcp.status",
]);

interface Tool {
  readonly title: string;
  /** By `Date.now()`, regardless of the injected clock, because process start times use it. */
  readonly startedAt: number;
}

export class Watchdog implements Disposable {
  readonly #options: WatchdogOptions;
  readonly #checkMs: number;
  readonly #stalled = deferred<Stall>();
  readonly #timer: NodeJS.Timeout;
  readonly #tools = new Map<string, Tool>();
  #stall: Stall | undefined;
  #lastEventAt: number;
  #lastProgressAt: number;
  /** True if output arrived after the last progress. */
  #hasNoise = false;
  #activityCount: number | undefined;
  #last: EventBody | undefined;
  #asking = 0;
  #checkedAt = performance.now();
  #suspectedAt: number | undefined;
  #used: ActivitySample | undefined;

  constructor(options: WatchdogOptions) {
    this.#options = options;
    this.#checkMs = options.pollMs ?? CHECK_MS;
    this.#lastEventAt = this.#lastProgressAt = this.#now();
    this.#activityCount = options.activityCount();
    for (const { toolId, name } of options.tools) this.#tools.set(toolId, { title: name, startedAt: Date.now() });
    this.#timer = setInterval(() => this.#check(), this.#checkMs).unref();
  }

  /** Undefined unless the turn has stalled. */
  get stall(): Stall | undefined {
    return this.#stall;
  }

  /** Resolves when the turn stalls; never rejects. */
  get stalled(): Promise<Stall> {
    return this.#stalled.promise;
  }

  /** Called for every recorded event, so it must be fast. */
  observe(bodies: readonly EventBody[]): void {
    const last = bodies.at(-1);
    if (last === undefined) return;
    let hasProgress = false;
    for (const body of bodies) {
      if (!NOISE.has(body.type)) hasProgress = true;
      if (body.type === "tool.started") {
        this.#tools.set(body.toolId, { title: body.title || body.name, startedAt: Date.now() });
      } else if (body.type === "tool.ended") this.#tools.delete(body.toolId);
    }
    this.#last = last;
    this.#activityCount = this.#options.activityCount();
    this.#lastEventAt = this.#now();
    this.#suspectedAt = undefined;
    this.#used = undefined;
    this.#hasNoise = !hasProgress;
    if (hasProgress) this.#lastProgressAt = this.#lastEventAt;
  }

  /** Stops all clocks while a person is asked. */
  async whileAsking<T>(answer: Promise<T>): Promise<T> {
    this.#asking += 1;
    try {
      return await answer;
    } finally {
      this.#asking -= 1;
      this.#restartClocks();
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #now(): number {
    const { clock } = this.#options;
    return clock.awake?.() ?? clock.now();
  }

  #restartClocks(): void {
    this.#lastEventAt = this.#lastProgressAt = this.#now();
    this.#hasNoise = false;
    this.#suspectedAt = undefined;
    this.#used = undefined;
  }

  #check(): void {
    const wasSuspended = performance.now() - this.#checkedAt > this.#checkMs + SUSPENDED_MS;
    this.#checkedAt = performance.now();
    if (this.#asking > 0 || wasSuspended) return this.#restartClocks();
    this.#listen();
    const now = this.#now();
    const clocks = this.#clocks();
    if (clocks.some(({ sinceMs, limitMs }) => now - sinceMs >= limitMs * SAMPLE_FROM))
      this.#used ??= this.#sampleTools();
    const expired = clocks.find(({ sinceMs, limitMs }) => now - sinceMs >= limitMs);
    if (expired === undefined) return;
    this.#suspectedAt ??= performance.now();
    if (performance.now() - this.#suspectedAt < CONFIRMING_CHECKS * this.#checkMs) return;
    if (this.#isWorking()) return this.#restartClocks();
    clearInterval(this.#timer);
    const tools = [...this.#tools.values()].map(({ title }) => title);
    const details = {
      ...expired,
      silentMs: now - expired.sinceMs,
      last: this.#last,
      tools,
      agent: this.#options.agent,
    };
    this.#stall = { clock: expired.clock, message: formatStall(details) };
    this.#stalled.resolve(this.#stall);
  }

  /**
   * A model that writes a long tool call sends data before an event is recorded. Ignored while a tool runs, because
   * its program may keep sending data.
   */
  #listen(): void {
    const activityCount = this.#options.activityCount();
    if (activityCount === this.#activityCount) return;
    this.#activityCount = activityCount;
    if (this.#tools.size > 0) return;
    this.#lastEventAt = this.#now();
    this.#suspectedAt = undefined;
    this.#hasNoise = true;
  }

  /** The active limits. A running tool keeps its own limit even if it prints output. */
  #clocks(): { readonly clock: StallDetails["clock"]; readonly sinceMs: number; readonly limitMs: number }[] {
    const { model, tool, progress } = this.#options.timeLimits;
    const toolRuns = this.#tools.size > 0;
    const silence = toolRuns
      ? ({ clock: "tool", sinceMs: this.#lastEventAt, limitMs: toMilliseconds(tool) } as const)
      : ({ clock: "model", sinceMs: this.#lastEventAt, limitMs: toMilliseconds(model) } as const);
    if (!this.#hasNoise) return [silence];
    const limitMs = toolRuns ? Math.max(toMilliseconds(progress), toMilliseconds(tool)) : toMilliseconds(progress);
    return [silence, { clock: "progress", sinceMs: this.#lastProgressAt, limitMs }];
  }

  #sampleTools(): ActivitySample | undefined {
    const marker = this.#options.childMarker();
    if (marker === undefined || this.#tools.size === 0) return undefined;
    return sampleActivity(marker, Math.min(...[...this.#tools.values()].map(({ startedAt }) => startedAt)));
  }

  #isWorking(): boolean {
    const now = this.#used === undefined ? undefined : this.#sampleTools();
    return this.#used !== undefined && now !== undefined && hasWorked(this.#used, now);
  }
}

function toMilliseconds(seconds: number | false): number {
  return seconds === false ? Infinity : seconds * 1000;
}
