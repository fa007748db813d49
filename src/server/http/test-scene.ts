/** For tests: a whole Rookery behind its HTTP door, and ways to speak to it as politely or as rudely as one likes. */
import { connect } from "node:net";
import { newId, type EventDraft, type Store } from "../../domain/index.ts";
import { Rookery } from "../../rookery.ts";
import { DisposeStack } from "../../stdx/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import { builtEnvironment, startModelServer, temporaryFolder, type Script } from "../../testing/index.ts";
import { serveHttp, type HttpOptions } from "./index.ts";
import { codesOf } from "./document.ts";
import type { Route } from "./route.ts";
import { ROUTES } from "./routes/index.ts";

export interface Said {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Anything;
}

/** What tests look for in answers of all kinds. */
export interface Anything {
  readonly id: string;
  readonly head: number;
  readonly seq: number;
  readonly turnId: string;
  readonly code: string;
  readonly detail: string;
  readonly requestId: string;
  readonly next: string | undefined;
  readonly agents: readonly { readonly name: string }[];
  readonly sessions: readonly { readonly id: string }[];
  readonly tasks: readonly { readonly id: string }[];
  readonly requests: readonly { readonly sessionId: string; readonly requestId: string }[];
  readonly events: readonly { readonly seq: number; readonly position: number; readonly type: string }[];
}

export type HttpScene = Awaited<ReturnType<typeof openHttp>>;

export async function openHttp(script: Script = [], options: Partial<HttpOptions> & { readonly store?: Store } = {}) {
  await using opening = new DisposeStack();
  const home = opening.use(await temporaryFolder());
  const cwd = opening.use(await temporaryFolder());
  const store = opening.use(options.store ?? openMemoryStore());
  const model = opening.use(await startModelServer(script));
  const env = { ...builtEnvironment({ home: home.path }), ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "fake" };
  const rookery = opening.use(await Rookery.open({ env, cwd: cwd.path, store }));
  const lines: string[] = [];
  const { store: _, ...http } = options;
  const serve = (more: Partial<HttpOptions> = {}) =>
    serveHttp(rookery, { port: 0, version: "1.2.3", env, log: (line) => void lines.push(line), ...http, ...more });
  const door = opening.use(await serve());
  const owned = opening.move();
  const call = async (method: string, path: string, body?: unknown, init: RequestInit = {}): Promise<Said> => {
    const response = await fetch(`${door.url}${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...init,
      headers: {
        authorization: `Bearer ${door.token}`,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(init.headers as Record<string, string> | undefined),
      },
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") === true && text !== "";
    const json = (isJson ? JSON.parse(text) : undefined) as Anything;
    if (json !== undefined) (response.ok ? checkAnswer : checkProblem)(method, path, response.status, json);
    return { status: response.status, headers: response.headers, text, json };
  };
  return {
    door,
    rookery,
    store,
    model,
    env,
    home: rookery.home,
    cwd: cwd.path,
    lines,
    serve,
    call,
    get: (path: string, init?: RequestInit) => call("GET", path, undefined, init),
    post: (path: string, body?: unknown, init?: RequestInit) => call("POST", path, body, init),
    /** A session of the log with so many small events after its opening. */
    written: (events: number) => writeSession(store, events),
    /** A stream, as text that comes; `ended` when there is no more. */
    stream: async (path: string, { signal, last }: { signal?: AbortSignal; last?: string } = {}) => {
      const headers = {
        authorization: `Bearer ${door.token}`,
        accept: "text/event-stream",
        ...(last && { "last-event-id": last }),
      };
      const response = await fetch(`${door.url}${path}`, { headers, ...(signal && { signal }) });
      return { response, ...readingOf(response) };
    },
    /** Bytes as they are, and all that comes back until the other side ends it. */
    raw: (bytes: string, { keep = false } = {}) => rawly(door.port, bytes, keep),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** What is sent is what the document says: nothing else in it, and nothing missing. */
function checkAnswer(method: string, path: string, status: number, json: unknown): void {
  const row = rowOf(method, path);
  const schema = row?.answers[status]?.schema;
  if (schema === undefined) throw new Error(`${method} ${path} answered ${status}, which its row does not have`);
  const parsed = JSON.stringify(sorted(schema.parse(json)));
  if (parsed !== JSON.stringify(sorted(json)))
    throw new Error(`${method} ${path} answered more than its row says: ${JSON.stringify(json)}`);
}

function checkProblem(method: string, path: string, status: number, { code }: Anything): void {
  const row = rowOf(method, path);
  if (row === undefined || codesOf(row).get(status)?.has(code) === true) return;
  throw new Error(`${method} ${path} answered ${status} ${code}, which the document does not have`);
}

function rowOf(method: string, path: string): Route | undefined {
  const given = path.split("?")[0]?.split("/") ?? [];
  return ROUTES.find((route) => {
    const wanted = route.path.split("/");
    return (
      route.method === method &&
      wanted.length === given.length &&
      wanted.every((part, at) => part.startsWith(":") || part === given[at])
    );
  });
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

export interface Received {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

function readingOf(response: Response) {
  const events: Received[] = [];
  const comments: string[] = [];
  const reader = response.body?.getReader();
  const ended = (async () => {
    const decoder = new TextDecoder();
    let rest = "";
    for (;;) {
      const chunk = await reader?.read();
      if (chunk?.value === undefined) return;
      const blocks = (rest + decoder.decode(chunk.value as Uint8Array, { stream: true })).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        if (block.startsWith(":")) comments.push(block.slice(1).trim());
        const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, "m").exec(block)?.[1];
        const data = field("data");
        if (data !== undefined) events.push({ id: field("id"), event: field("event"), data });
      }
    }
  })().catch(() => undefined);
  return { events, comments, ended, cancel: () => reader?.cancel() };
}

function rawly(port: number, bytes: string, keep: boolean): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(Buffer.concat(chunks).toString()));
    if (keep) socket.write(bytes);
    else socket.end(bytes);
  });
}

export async function writeSession(store: Store, events: number): Promise<string> {
  const sessionId = newId("ses");
  const at = new Date().toISOString();
  const opened: EventDraft = {
    type: "session.opened",
    at,
    agent: "a",
    backend: "api",
    cwd: "/tmp",
    permissions: "ask",
  };
  await store.append({ sessionId, id: newId("app"), expectedHead: 0, events: [opened] });
  await appendNotices(store, sessionId, 1, events);
  return sessionId;
}

export async function appendNotices(store: Store, sessionId: string, head: number, count: number): Promise<number> {
  const at = new Date().toISOString();
  for (let written = 0; written < count;) {
    const size = Math.min(500, count - written);
    const events = Array.from({ length: size }, (_, index): EventDraft => {
      const messageId = "msg_0";
      return { type: "message.delta", at, agent: "a", messageId, text: `word ${head + written + index + 1} ` };
    });
    await store.append({ sessionId, id: newId("app"), expectedHead: head + written, events });
    written += size;
  }
  return head + count;
}
