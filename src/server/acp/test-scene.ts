/** Test setup: editors connected to the ACP server, with a scripted model and a shared store in one process. */
import { connectClient, transportPair, type Client, type ClientOptions } from "../../acp/index.ts";
import type * as acp from "../../acp/schema.ts";
import { RookeryError, type Store } from "../../domain/index.ts";
import { Rookery } from "../../rookery.ts";
import { DisposeStack, systemClock, type Clock } from "../../stdx/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import { builtEnvironment, startModelServer, temporaryFolder, type Script } from "../../testing/index.ts";
import { serveAcpClient } from "./agent-server.ts";

export interface Message {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface Editor extends AsyncDisposable {
  readonly client: Client;
  /** All messages in order, from the perspective of the editor. */
  readonly wire: { readonly direction: "in" | "out"; readonly message: Message }[];
  /** Resolves with the first received message that matches. */
  readonly waitForMessage: (matches: (message: Message) => boolean) => Promise<Message>;
}

export interface AcpEditor extends Editor {
  readonly rookery: Rookery;
  /** Errors that the server reported outside of the protocol. */
  readonly failures: unknown[];
}

export type EditorOptions = Pick<ClientOptions, "serve" | "capabilities">;

/** Opens a folder and a shared store. Editors and further Rookery instances can be added. */
export async function openAcpScene(script: Script, store: Store = openMemoryStore()) {
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
  ): Promise<AcpEditor> => {
    await using opening = new DisposeStack();
    const rookery = await open(options.clock, options.store);
    opening.defer(() => rookery.close().catch(() => undefined)); // some tests break the store on purpose
    const [near, far] = transportPair();
    const failures: unknown[] = [];
    const server = serveAcpClient({
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
      await server.close();
      await server.ended;
    });
    const { recorded, wire, waitForMessage } = recorder();
    const client = opening.use(await connectClient({ transport: near, trace: recorded, ...options }));
    const owned = opening.move();
    return {
      client,
      rookery,
      wire,
      waitForMessage,
      failures,
      [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
    };
  };
  const owned = opening.move();
  return {
    folder: folder.path,
    env,
    model,
    store,
    /** Opens another Rookery on the same store, like another process. */
    open,
    editor: async (...args: Parameters<typeof editor>) => owned.use(await editor(...args)),
    events: async (sessionId: string) => (await store.read({ sessionId, limit: 10_000 })).events,
    /** Runs work as a process that is then killed: it writes nothing afterwards. */
    leave: async <T>(work: (rookery: Rookery) => Promise<T>): Promise<T> => {
      const dying = killable(store);
      const result = await work(await open(systemClock, dying.store));
      dying.kill();
      return result;
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** A store that rejects writes after `kill`. Its lease owners look like processes of another machine. */
function killable(store: Store): { readonly store: Store; kill(): void } {
  let killed = false;
  const dead = () => Promise.reject(new RookeryError("store_closed", "killed"));
  const watched = new Proxy(store, {
    get(target, name) {
      if (name === "acquireLease") {
        return (request: Parameters<Store["acquireLease"]>[0]) =>
          target.acquireLease({ ...request, owner: `elsewhere-${request.owner}` });
      }
      if (killed && (name === "append" || name === "releaseLease" || name === "renewLeases")) return dead;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  return { store: watched, kill: () => (killed = true) };
}

/** Records all messages of a connection. */
export function recorder() {
  const wire: Editor["wire"] = [];
  const listeners = new Set<() => void>();
  return {
    wire,
    recorded: (direction: "in" | "out", line: string): void => {
      wire.push({ direction, message: JSON.parse(line) as Message });
      for (const listener of listeners) listener();
    },
    waitForMessage: (matches: (message: Message) => boolean): Promise<Message> =>
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

/** Matches a session update of this kind. */
export const isUpdateOfKind =
  (kind: string) =>
  ({ method, params }: Message): boolean =>
    method === "session/update" && (params as acp.SessionNotification).update.sessionUpdate === kind;

/** The received updates of a session, in order. */
export function receivedUpdates({ wire }: Pick<Editor, "wire">, sessionId: string): acp.SessionUpdate[] {
  return wire.flatMap(({ direction, message }) => {
    if (direction !== "in" || message.method !== "session/update") return [];
    const params = message.params as acp.SessionNotification;
    return params.sessionId === sessionId ? [params.update] : [];
  });
}

/** Formats one line per update. Joins consecutive chunks of a text. */
export function formatUpdates(updates: readonly acp.SessionUpdate[]): string[] {
  const lines: string[] = [];
  let piece = "";
  for (const update of updates) {
    const line = formatUpdate(update);
    const chunk = update.sessionUpdate.endsWith("_chunk") ? update.sessionUpdate : "";
    if (chunk !== "" && chunk === piece) lines.push((lines.pop() ?? "") + line.slice(line.indexOf(" ") + 1));
    else lines.push(line);
    piece = chunk;
  }
  return lines;
}

function formatUpdate(update: acp.SessionUpdate): string {
  switch (update.sessionUpdate) {
    case "user_message_chunk":
      return `user ${formatTestContent(update.content)}`;
    case "agent_message_chunk":
      return `says ${formatTestContent(update.content)}`;
    case "agent_thought_chunk":
      return `thinks ${formatTestContent(update.content)}`;
    case "tool_call":
      return `tool ${update.title} ${update.status ?? ""}`;
    case "tool_call_update":
      return `tool ${update.status ?? "update"}${(update.content ?? []).map(({ type }) => ` ${type}`).join("")}`;
    default:
      return update.sessionUpdate;
  }
}

function formatTestContent(content: acp.ContentBlock): string {
  return content.type === "text" ? content.text : `[${content.type}]`;
}

export const selectOption = (optionId: string): acp.RequestPermissionResponse => ({
  outcome: { outcome: "selected", optionId },
});
