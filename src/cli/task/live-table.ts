/** Redraws a table of tasks in place until the person quits. */
import { hasColor, type Io } from "../io.ts";
import { ansiPaint, plainPaint } from "../paint.ts";
import { truncateToWidth } from "../display-width.ts";
import type { TaskService } from "./service.ts";
import { watchExitKeys } from "./exit-keys.ts";
import type { ListedTask } from "./interrupted.ts";
import { terminalSize } from "./terminal-size.ts";
import { formatTaskTable } from "./table.ts";

export interface LiveTable {
  readonly io: Io;
  readonly service: TaskService;
  readonly tasks: readonly ListedTask[];
  readonly read: () => Promise<readonly ListedTask[]>;
}

/** Redraws at most four times a second, and at least once a second to update elapsed times. */
const MIN_PAUSE_MS = 250;
const TICK_MS = 1_000;
const moveUp = (lines: number): string => (lines === 0 ? "\r" : `\r\u001b[${lines}A`);
const REST_OF_LINE = "\u001b[K";
const REST_OF_SCREEN = "\u001b[J";

/** Rejects if the tasks cannot be read. */
export async function showLiveTable({ io, service, tasks: first, read }: LiveTable): Promise<void> {
  using keys = watchExitKeys(io);
  const screen = createTableScreen(io);
  const news = new ChangeSignal();
  const follow = async (): Promise<void> => {
    const after = await service.head();
    news.notify(); // for events before `after`
    for await (const _ of service.tasks.follow({ after, signal: keys.exited })) news.notify();
  };
  const following = follow();
  following.catch(() => news.notify()); // awaited below
  let tasks = first;
  let readAt = performance.now();
  try {
    while (!keys.exited.aborted) {
      screen.draw(tasks, performance.now() - readAt);
      await sleepUnlessAborted(MIN_PAUSE_MS, keys.exited);
      const isNew = await news.wait(TICK_MS - MIN_PAUSE_MS, keys.exited);
      await Promise.race([following, Promise.resolve()]);
      if (!isNew || keys.exited.aborted) continue;
      tasks = await read();
      readAt = performance.now();
    }
  } finally {
    keys.exit();
  }
  await following;
}

function createTableScreen(io: Io): { draw(tasks: readonly ListedTask[], since: number): void } {
  const paint = hasColor(io) ? ansiPaint : plainPaint;
  let height = 0;
  return {
    draw(tasks, since) {
      const { width, height: rows } = terminalSize(io.stdout);
      const lines = formatTaskTable(tasks, { width: width - 1, paint, since });
      const room = Math.max(3, rows - 2);
      const shown = lines.length <= room ? lines : lines.slice(0, room - 1);
      const left = lines.length - shown.length;
      const foot = [
        ...(left > 0 ? [`… ${left} more`] : []),
        paint("dim", truncateToWidth(formatFooter(tasks), width - 1)),
      ];
      const text = [...shown, ...foot].map((line) => `${line}${REST_OF_LINE}\n`).join("");
      io.stdout.write(moveUp(height) + text + REST_OF_SCREEN);
      height = shown.length + foot.length;
    },
  };
}

function formatFooter(tasks: readonly ListedTask[]): string {
  const counts = new Map<string, number>();
  for (const { status, interrupted } of tasks) {
    const state = interrupted ? "interrupted" : status;
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return [...Array.from(counts, ([status, count]) => `${count} ${status}`), "q quits"].join(" · ");
}

/** Remembers whether something changed since the last wait. */
class ChangeSignal {
  #heard = false;
  #listener: () => void = () => undefined;

  notify(): void {
    this.#heard = true;
    this.#listener();
  }

  /** Resolves with true at the next change, or with false after `ms`. */
  async wait(ms: number, signal: AbortSignal): Promise<boolean> {
    if (!this.#heard) {
      const cut = new AbortController();
      const stop = (): void => cut.abort();
      this.#listener = stop;
      signal.addEventListener("abort", stop, { once: true });
      await sleepUnlessAborted(ms, cut.signal);
      signal.removeEventListener("abort", stop);
      this.#listener = () => undefined;
    }
    const heard = this.#heard;
    this.#heard = false;
    return heard;
  }
}

function sleepUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
  });
}
