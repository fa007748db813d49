/** What the cases of the contract are made of: a store to themselves, and short ways to write and read it. */
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
  /** A sentence. */
  readonly name: string;
  /** Closes what it opened; throws where the store breaks its promise. Every store that `open` gives is empty. */
  readonly run: (open: () => Promise<Store>) => Promise<void>;
}

export const AT = "2026-01-02T03:04:05.678Z";
export const SESSION = "ses_0000000001aaaaaaaaaaaa";

export function inStore(name: string, scene: (store: Store) => Promise<void>): StoreContractCase {
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

/** Stamped by the same agent at the same time. */
export function draft(body: EventBody): EventDraft {
  return { at: AT, agent: "coder", ...body };
}

export function says(text: string): EventDraft {
  return draft({ type: "output.text", text });
}

export function opening(more: { cwd?: string; parent?: string; title?: string; task?: string } = {}): EventDraft {
  return draft({ type: "session.opened", cwd: "/repo", backend: "api", permissions: "ask", ...more });
}

/** An append with a fresh id, unless it is given one. */
export function appendOf(expectedHead: number, events: readonly EventDraft[], more: Partial<Append> = {}): Append {
  counter += 1;
  return { sessionId: SESSION, id: `app_${counter}`, expectedHead, events, ...more };
}

let counter = 0;

export const TASK = "add-pages";

/** Alone on its agent, in the only repository there is. */
export function specOf(more: Partial<TaskSpec> = {}): TaskSpec {
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

export function happens(body: TaskEventBody, at = AT): TaskEventDraft {
  return { ...body, at };
}

export function taskAppendOf(
  expectedHead: number,
  events: readonly TaskEventDraft[],
  more: Partial<TaskAppend> = {},
): TaskAppend {
  counter += 1;
  return { taskId: TASK, id: `app_${counter}`, expectedHead, events, ...more };
}

export async function createTask(store: Store, taskId = TASK, more: Partial<TaskSpec> = {}): Promise<Appended> {
  return store.appendTask(taskAppendOf(0, [happens({ type: "task.created", spec: specOf(more) })], { taskId }));
}

/** Appends to a task wherever its head is. */
export async function tell(store: Store, taskId: string, ...bodies: TaskEventBody[]): Promise<Appended> {
  const head = (await store.task(taskId))?.head ?? 0;
  const events = bodies.map((body) => happens(body));
  return store.appendTask(taskAppendOf(head, events, { taskId }));
}

/** Opens the session and says the texts; the head is then one more than their number. */
export async function openSession(store: SessionStore, texts: readonly string[] = []): Promise<Appended> {
  return store.append(appendOf(0, [opening(), ...texts.map(says)]));
}

export async function textsIn(store: SessionStore): Promise<string[]> {
  const { events } = await store.read({ sessionId: SESSION });
  return events.map(textOfEvent);
}

export function textOfEvent(event: SessionEvent): string {
  return event.type === "output.text" ? event.text : event.type;
}

export async function refuses(code: ErrorCode, work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error: Error & { code?: unknown }) => {
    assert.equal(error.code, code, error.stack ?? error.message);
    return true;
  });
}

/** The next `count` events of a follower. */
export async function take(events: AsyncIterator<SessionEvent>, count: number): Promise<SessionEvent[]> {
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
