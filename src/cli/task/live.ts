/** A table of tasks that is drawn anew in its place while things happen, until the person has seen enough. */
import { hasColour, type Io } from "../io.ts";
import { coloured, plain } from "../paint.ts";
import { shortened } from "../cells.ts";
import type { TaskDoor } from "./door.ts";
import { watchKeys } from "./keys.ts";
import type { ShownTask } from "./left.ts";
import { sizeOf } from "./size.ts";
import { tableOf } from "./table.ts";

export interface Live {
  readonly io: Io;
  readonly door: TaskDoor;
  readonly tasks: readonly ShownTask[];
  readonly read: () => Promise<readonly ShownTask[]>;
}

/** At most four times a second; and once a second by itself, for the times. */
const MIN_PAUSE_MS = 250;
const TICK_MS = 1_000;
const UP = (lines: number): string => (lines === 0 ? "\r" : `\r\u001b[${lines}A`);
const REST_OF_LINE = "\u001b[K";
const REST_OF_SCREEN = "\u001b[J";

/** Rejects where the tasks cannot be read any more. */
export async function showLive({ io, door, tasks: first, read }: Live): Promise<void> {
  using keys = watchKeys(io);
  const screen = drawn(io);
  const news = new News();
  const follow = async (): Promise<void> => {
    const after = await door.head();
    news.ring(); // what happened before the place was known
    for await (const _ of door.tasks.follow({ after, signal: keys.left })) news.ring();
  };
  const following = follow();
  following.catch(() => news.ring()); // told below
  let tasks = first;
  let readAt = performance.now();
  try {
    while (!keys.left.aborted) {
      screen.draw(tasks, performance.now() - readAt);
      await pause(MIN_PAUSE_MS, keys.left);
      const isNew = await news.wait(TICK_MS - MIN_PAUSE_MS, keys.left);
      await Promise.race([following, Promise.resolve()]);
      if (!isNew || keys.left.aborted) continue;
      tasks = await read();
      readAt = performance.now();
    }
  } finally {
    keys.leave();
  }
  await following;
}

function drawn(io: Io): { draw(tasks: readonly ShownTask[], since: number): void } {
  const paint = hasColour(io) ? coloured : plain;
  let height = 0;
  return {
    draw(tasks, since) {
      const { width, height: rows } = sizeOf(io.stdout);
      const lines = tableOf(tasks, { width: width - 1, paint, since });
      const room = Math.max(3, rows - 2);
      const shown = lines.length <= room ? lines : lines.slice(0, room - 1);
      const left = lines.length - shown.length;
      const foot = [...(left > 0 ? [`… ${left} more`] : []), paint("dim", shortened(footOf(tasks), width - 1))];
      const text = [...shown, ...foot].map((line) => `${line}${REST_OF_LINE}\n`).join("");
      io.stdout.write(UP(height) + text + REST_OF_SCREEN);
      height = shown.length + foot.length;
    },
  };
}

function footOf(tasks: readonly ShownTask[]): string {
  const counts = new Map<string, number>();
  for (const { status, left } of tasks) {
    const state = left ? "interrupted" : status;
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return [...Array.from(counts, ([status, count]) => `${count} ${status}`), "q leaves"].join(" · ");
}

/** Whether anything happened since it was last asked. */
class News {
  #heard = false;
  #listener: () => void = () => undefined;

  ring(): void {
    this.#heard = true;
    this.#listener();
  }

  /** Waits so long at most. */
  async wait(ms: number, signal: AbortSignal): Promise<boolean> {
    if (!this.#heard) {
      const cut = new AbortController();
      const stop = (): void => cut.abort();
      this.#listener = stop;
      signal.addEventListener("abort", stop, { once: true });
      await pause(ms, cut.signal);
      signal.removeEventListener("abort", stop);
      this.#listener = () => undefined;
    }
    const heard = this.#heard;
    this.#heard = false;
    return heard;
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
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
