/** Watches what a turn records, and says when it has come to a stop. */
import type { EventBody, RunningTool } from "../../domain/index.ts";
import { deferred, hasWorked, sampleActivity, type Clock, type ActivitySample } from "../../stdx/index.ts";
import type { TurnTimeLimits } from "../time-limits.ts";
import { formatStall, type StallDetails } from "./message.ts";

export interface WatchdogOptions {
  readonly agent: string;
  readonly patience: TurnTimeLimits;
  readonly clock: Clock;
  /** Of the processes that its tools run in, while there are any. */
  readonly childMarker: () => string | undefined;
  /** Another number each time that the agent was heard, also where nothing of it is recorded yet. */
  readonly heard: () => number | undefined;
  /** What a process that died has left running. */
  readonly tools: readonly RunningTool[];
  readonly lookMs?: number | undefined;
}

export interface Stall {
  readonly clock: StallDetails["clock"];
  readonly message: string;
}

const CHECK_MS = 250;
/** Who has waited too long is looked at for so many looks more: what came while this process was stopped is read first. */
const CONFIRMING_CHECKS = 4;
/** So long between two looks only a process is that was stopped, or whose machine slept: not every clock stands still then. */
const ABSENT_MS = 5_000;
/** From this part of the time on it is noted what the processes of a tool have used, to be compared at its end. */
const SAMPLE_FROM = 0.75;

/** They say that the program is alive, and nothing of the turn. */
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
  /** As Date.now() says it, whatever clock is handed in: its processes started by no other. */
  readonly startedAt: number;
}

export class Watchdog implements Disposable {
  readonly #options: WatchdogOptions;
  readonly #lookMs: number;
  readonly #stalled = deferred<Stall>();
  readonly #timer: NodeJS.Timeout;
  readonly #tools = new Map<string, Tool>();
  #stall: Stall | undefined;
  #seenAt: number;
  #movedAt: number;
  /** Has anything come since it moved? */
  #noisy = false;
  #heard: number | undefined;
  #last: EventBody | undefined;
  #asking = 0;
  #lookedAt = performance.now();
  #suspectedAt: number | undefined;
  #used: ActivitySample | undefined;

  constructor(options: WatchdogOptions) {
    this.#options = options;
    this.#lookMs = options.lookMs ?? CHECK_MS;
    this.#seenAt = this.#movedAt = this.#now();
    this.#heard = options.heard();
    for (const { toolId, name } of options.tools) this.#tools.set(toolId, { title: name, startedAt: Date.now() });
    this.#timer = setInterval(() => this.#look(), this.#lookMs).unref();
  }

  /** Undefined while all is well. */
  get stall(): Stall | undefined {
    return this.#stall;
  }

  /** Resolves when the turn has come to a stop, and never otherwise. */
  get stalled(): Promise<Stall> {
    return this.#stalled.promise;
  }

  /** Called for all that is recorded, so it does little. */
  saw(bodies: readonly EventBody[]): void {
    const last = bodies.at(-1);
    if (last === undefined) return;
    let moved = false;
    for (const body of bodies) {
      if (!NOISE.has(body.type)) moved = true;
      if (body.type === "tool.started") {
        this.#tools.set(body.toolId, { title: body.title || body.name, startedAt: Date.now() });
      } else if (body.type === "tool.ended") this.#tools.delete(body.toolId);
    }
    this.#last = last;
    this.#heard = this.#options.heard();
    this.#seenAt = this.#now();
    this.#suspectedAt = undefined;
    this.#used = undefined;
    this.#noisy = !moved;
    if (moved) this.#movedAt = this.#seenAt;
  }

  /** All clocks stand still while a person is waited for. */
  async whileAsking<T>(answer: Promise<T>): Promise<T> {
    this.#asking += 1;
    try {
      return await answer;
    } finally {
      this.#asking -= 1;
      this.#beginAnew();
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #now(): number {
    const { clock } = this.#options;
    return clock.awake?.() ?? clock.now();
  }

  #beginAnew(): void {
    this.#seenAt = this.#movedAt = this.#now();
    this.#noisy = false;
    this.#suspectedAt = undefined;
    this.#used = undefined;
  }

  #look(): void {
    const wasAbsent = performance.now() - this.#lookedAt > this.#lookMs + ABSENT_MS;
    this.#lookedAt = performance.now();
    if (this.#asking > 0 || wasAbsent) return this.#beginAnew();
    this.#listen();
    const now = this.#now();
    const clocks = this.#clocks();
    if (clocks.some(({ sinceMs, limitMs }) => now - sinceMs >= limitMs * SAMPLE_FROM)) this.#used ??= this.#lookAtTools();
    const over = clocks.find(({ sinceMs, limitMs }) => now - sinceMs >= limitMs);
    if (over === undefined) return;
    this.#suspectedAt ??= performance.now();
    if (performance.now() - this.#suspectedAt < CONFIRMING_CHECKS * this.#lookMs) return;
    if (this.#isWorking()) return this.#beginAnew();
    clearInterval(this.#timer);
    const tools = [...this.#tools.values()].map(({ title }) => title);
    const stop = { ...over, silentMs: now - over.sinceMs, last: this.#last, tools, agent: this.#options.agent };
    this.#stall = { clock: over.clock, message: formatStall(stop) };
    this.#stalled.resolve(this.#stall);
  }

  /** A model that writes a long call is heard, and recorded at its end. A tool is not: its program may say all the while that it runs. */
  #listen(): void {
    const heard = this.#options.heard();
    if (heard === this.#heard) return;
    this.#heard = heard;
    if (this.#tools.size > 0) return;
    this.#seenAt = this.#now();
    this.#suspectedAt = undefined;
    this.#noisy = true;
  }

  /** Those that run now. A tool has its time also where it only makes noise. */
  #clocks(): { readonly clock: StallDetails["clock"]; readonly sinceMs: number; readonly limitMs: number }[] {
    const { model, tool, progress } = this.#options.patience;
    const toolRuns = this.#tools.size > 0;
    const silence = toolRuns
      ? ({ clock: "tool", sinceMs: this.#seenAt, limitMs: toMilliseconds(tool) } as const)
      : ({ clock: "model", sinceMs: this.#seenAt, limitMs: toMilliseconds(model) } as const);
    if (!this.#noisy) return [silence];
    const limitMs = toolRuns ? Math.max(toMilliseconds(progress), toMilliseconds(tool)) : toMilliseconds(progress);
    return [silence, { clock: "progress", sinceMs: this.#movedAt, limitMs }];
  }

  #lookAtTools(): ActivitySample | undefined {
    const marker = this.#options.childMarker();
    if (marker === undefined || this.#tools.size === 0) return undefined;
    return sampleActivity(marker, Math.min(...[...this.#tools.values()].map(({ startedAt }) => startedAt)));
  }

  #isWorking(): boolean {
    const now = this.#used === undefined ? undefined : this.#lookAtTools();
    return this.#used !== undefined && now !== undefined && hasWorked(this.#used, now);
  }
}

function toMilliseconds(seconds: number | false): number {
  return seconds === false ? Infinity : seconds * 1000;
}
