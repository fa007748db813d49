/** Helpers for the contract cases: a fresh store for each case, and short functions to write and read it. */
import assert from "node:assert/strict";
import type {
  Append,
  Appended,
  ErrorCode,
  EventBody,
  EventDraft,
  SessionEvent,
  SessionStore,
  Store,
  TaskAppend,
  TaskEventBody,
  TaskEventDraft,
  TaskSpec,
} from "../../domain/index.ts";

export interface StoreContractCase {
  /** A test title in the present tense. */
  readonly name: string;
  /** Throws if the store violates the contract. `open` must return a new, empty store; the case closes it. */
  readonly run: (open: () => Promise<Store>) => Promise<void>;
  /** The case writes megabytes, so it takes longer than the others. Default: false. */
  readonly isLarge?: boolean;
}

export const AT = "2026-01-02T03:04:05.678Z";
export const SESSION = "ses_0000000001aaaaaaaaaaaa";

export function storeCase(name: string, scene: (store: Store) => Promise<void>): StoreContractCase {
  return {
    name,
    async run(open) {
      const store = await open();
      try {
        await scene(store);
      } finally {
        await store[Symbol.asyncDispose]();
      }
    },
  };
}

/** A case that writes megabytes. */
export function largeStoreCase(name: string, scene: (store: Store) => Promise<void>): StoreContractCase {
  return { ...storeCase(name, scene), isLarge: true };
}

/** Adds a fixed time and agent. */
export function toEventDraft(body: EventBody): EventDraft {
  return { at: AT, agent: "coder", ...body };
}

export function outputText(text: string): EventDraft {
  return toEventDraft({ type: "output.text", text });
}

export function sessionOpened(more: { cwd?: string; parent?: string; title?: string; task?: string } = {}): EventDraft {
  return toEventDraft({ type: "session.opened", cwd: "/repo", backend: "api", permissions: "ask", ...more });
}

/** An append with a new id, unless `more` has one. */
export function newAppend(expectedHead: number, events: readonly EventDraft[], more: Partial<Append> = {}): Append {
  counter += 1;
  return { sessionId: SESSION, id: `app_${counter}`, expectedHead, events, ...more };
}

let counter = 0;

export const TASK = "add-pages";

/** A task spec with defaults: one stage, one repository, no limits. */
export function newTaskSpec(more: Partial<TaskSpec> = {}): TaskSpec {
  return {
    prompt: "Add pages",
    title: "Add pages",
    repository: "/repo",
    agent: "coder",
    provider: "anthropic",
    priority: 0,
    needs: [],
    retries: 0,
    budget: {},
    stages: [{ kind: "agent", name: "coder", agent: "coder", tries: 1 }],
    limits: {},
    ...more,
  };
}

export function toTaskEventDraft(body: TaskEventBody, at = AT): TaskEventDraft {
  return { ...body, at };
}

export function newTaskAppend(
  expectedHead: number,
  events: readonly TaskEventDraft[],
  more: Partial<TaskAppend> = {},
): TaskAppend {
  counter += 1;
  return { taskId: TASK, id: `app_${counter}`, expectedHead, events, ...more };
}

export async function createTask(store: Store, taskId = TASK, more: Partial<TaskSpec> = {}): Promise<Appended> {
  return store.appendTask(
    newTaskAppend(0, [toTaskEventDraft({ type: "task.created", spec: newTaskSpec(more) })], { taskId }),
  );
}

/** Appends events at the current head of a task. */
export async function appendTaskEvents(store: Store, taskId: string, ...bodies: TaskEventBody[]): Promise<Appended> {
  const head = (await store.task(taskId))?.head ?? 0;
  const events = bodies.map((body) => toTaskEventDraft(body));
  return store.appendTask(newTaskAppend(head, events, { taskId }));
}

/** Writes a session with one event per text. The head is the number of texts plus one. */
export async function writeTestSession(store: SessionStore, texts: readonly string[] = []): Promise<Appended> {
  return store.append(newAppend(0, [sessionOpened(), ...texts.map(outputText)]));
}

export async function readSessionTexts(store: SessionStore): Promise<string[]> {
  const { events } = await store.read({ sessionId: SESSION });
  return events.map(toTextOrType);
}

export function toTextOrType(event: SessionEvent): string {
  return event.type === "output.text" ? event.text : event.type;
}

export async function assertRejectsWith(code: ErrorCode, work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error: Error & { code?: unknown }) => {
    assert.equal(error.code, code, error.stack ?? error.message);
    return true;
  });
}

/** Reads the next `count` events of a follower, or fewer if it ends. */
export async function takeNextEvents(events: AsyncIterator<SessionEvent>, count: number): Promise<SessionEvent[]> {
  const taken: SessionEvent[] = [];
  while (taken.length < count) {
    const next = await events.next();
    if (next.done === true) break;
    taken.push(next.value);
  }
  return taken;
}

export function numbers(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
