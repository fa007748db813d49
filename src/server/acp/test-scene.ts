/** For tests: editors at the door, in one process with a scripted model and a log that they share. */
import { connectClient, transportPair, type Client, type ClientOptions } from "../../acp/index.ts";
import type * as acp from "../../acp/schema.ts";
import { RookeryError, type Store } from "../../domain/index.ts";
import { Rookery } from "../../rookery.ts";
import { DisposeStack, systemClock, type Clock } from "../../stdx/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import { builtEnvironment, startModelServer, temporaryFolder, type Script } from "../../testing/index.ts";
import { openDoor } from "./door.ts";

export interface Message {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface Editor extends AsyncDisposable {
  readonly client: Client;
  /** Everything that went over the wire, in order, as the editor sees it. */
  readonly wire: { readonly direction: "in" | "out"; readonly message: Message }[];
  /** Resolves when the wire has brought such a message. */
  readonly came: (matches: (message: Message) => boolean) => Promise<Message>;
}

export interface DoorEditor extends Editor {
  readonly rookery: Rookery;
  /** What the door said beside the protocol. */
  readonly failures: unknown[];
}

export type EditorOptions = Pick<ClientOptions, "serve" | "capabilities">;

/** A folder for sessions, and any number of editors and other processes that share a log. */
export async function openDesk(script: Script, store: Store = openMemoryStore()) {
  await using opening = new DisposeStack();
  opening.use(store);
  const home = opening.use(await temporaryFolder());
  const folder = opening.use(await temporaryFolder());
  const model = opening.use(await startModelServer(script));
  const env = { ...builtEnvironment({ home: home.path }), ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "fake" };
  const open = (clock: Clock = systemClock, through: Store = store): Promise<Rookery> =>
    Rookery.open({ env, cwd: folder.path, store: through, clock });
  const editor = async (
    options: EditorOptions & { readonly agent?: string; readonly clock?: Clock; readonly store?: Store } = {},
  ): Promise<DoorEditor> => {
    await using opening = new DisposeStack();
    const rookery = await open(options.clock, options.store);
    opening.defer(() => rookery.close().catch(() => undefined)); // some tests break its log on purpose
    const [near, far] = transportPair();
    const failures: unknown[] = [];
    const door = openDoor({
      rookery,
      transport: far,
      env,
      version: "0",
      cwd: folder.path,
      agent: options.agent,
      clock: options.clock,
      onFailure: (error) => failures.push(error),
    });
    opening.defer(async () => {
      await door.close();
      await door.ended;
    });
    const { recorded, wire, came } = recorder();
    const client = opening.use(await connectClient({ transport: near, trace: recorded, ...options }));
    const owned = opening.move();
    return { client, rookery, wire, came, failures, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
  };
  const owned = opening.move();
  return {
    folder: folder.path,
    env,
    model,
    store,
    /** Another process, as it were. */
    open,
    editor: async (...args: Parameters<typeof editor>) => owned.use(await editor(...args)),
    events: async (sessionId: string) => (await store.read({ sessionId, limit: 10_000 })).events,
    /** Does something in a process that is killed then: nothing more of it is ever written. */
    leave: async <T>(work: (rookery: Rookery) => Promise<T>): Promise<T> => {
      const dying = killable(store);
      const result = await work(await open(systemClock, dying.store));
      dying.kill();
      return result;
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** A store that stops to write at once when its process is killed. Nobody can judge the holder of its leases. */
function killable(store: Store): { readonly store: Store; kill(): void } {
  let killed = false;
  const dead = () => Promise.reject(new RookeryError("store_closed", "killed"));
  const watched = new Proxy(store, {
    get(target, name) {
      if (name === "acquireLease") {
        return (request: Parameters<Store["acquireLease"]>[0]) =>
          target.acquireLease({ ...request, owner: `elsewhere-${request.owner}` });
      }
      if (killed && (name === "append" || name === "releaseLease" || name === "renewLease")) return dead;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  return { store: watched, kill: () => (killed = true) };
}

/** Writes down what goes over a wire. */
export function recorder() {
  const wire: Editor["wire"] = [];
  const listeners = new Set<() => void>();
  return {
    wire,
    recorded: (direction: "in" | "out", line: string): void => {
      wire.push({ direction, message: JSON.parse(line) as Message });
      for (const listener of listeners) listener();
    },
    came: (matches: (message: Message) => boolean): Promise<Message> =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = wire.find(({ direction, message }) => direction === "in" && matches(message));
          if (found === undefined) return;
          listeners.delete(look);
          resolve(found.message);
        };
        listeners.add(look);
        look();
      }),
  };
}

/** Is that an update of that kind? */
export const updated =
  (kind: string) =>
  ({ method, params }: Message): boolean =>
    method === "session/update" && (params as acp.SessionNotification).update.sessionUpdate === kind;

/** Of the updates that came, those of the session, in order. */
export function updatesOf({ wire }: Pick<Editor, "wire">, sessionId: string): acp.SessionUpdate[] {
  return wire.flatMap(({ direction, message }) => {
    if (direction !== "in" || message.method !== "session/update") return [];
    const params = message.params as acp.SessionNotification;
    return params.sessionId === sessionId ? [params.update] : [];
  });
}

/** One line for each update; pieces of one text are one line. */
export function linesOf(updates: readonly acp.SessionUpdate[]): string[] {
  const lines: string[] = [];
  let piece = "";
  for (const update of updates) {
    const line = lineOf(update);
    const chunk = update.sessionUpdate.endsWith("_chunk") ? update.sessionUpdate : "";
    if (chunk !== "" && chunk === piece) lines.push((lines.pop() ?? "") + line.slice(line.indexOf(" ") + 1));
    else lines.push(line);
    piece = chunk;
  }
  return lines;
}

function lineOf(update: acp.SessionUpdate): string {
  switch (update.sessionUpdate) {
    case "user_message_chunk":
      return `user ${textOf(update.content)}`;
    case "agent_message_chunk":
      return `says ${textOf(update.content)}`;
    case "agent_thought_chunk":
      return `thinks ${textOf(update.content)}`;
    case "tool_call":
      return `tool ${update.title} ${update.status ?? ""}`;
    case "tool_call_update":
      return `tool ${update.status ?? "goes on"}${(update.content ?? []).map(({ type }) => ` ${type}`).join("")}`;
    default:
      return update.sessionUpdate;
  }
}

function textOf(content: acp.ContentBlock): string {
  return content.type === "text" ? content.text : `[${content.type}]`;
}

export const choosing = (optionId: string): acp.RequestPermissionResponse => ({
  outcome: { outcome: "selected", optionId },
});
