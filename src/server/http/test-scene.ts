/** Test setup: a Rookery with a scripted model behind an HTTP server, and helpers for valid and malformed requests. */
import { connect } from "node:net";
import { newId, type EventDraft, type Store } from "../../domain/index.ts";
import { Rookery } from "../../rookery.ts";
import { DisposeStack } from "../../stdx/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import { builtEnvironment, startModelServer, temporaryFolder, type Script } from "../../testing/index.ts";
import { serveHttp, type HttpOptions } from "./index.ts";
import { listProblemCodes } from "./document.ts";
import type { HttpRoute } from "./route.ts";
import { ROUTES } from "./routes/index.ts";

export interface HttpResult {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: AnyJson;
}

/** The response fields that tests read. */
export interface AnyJson {
  readonly id: string;
  readonly head: number;
  readonly seq: number;
  readonly turnId: string;
  readonly code: string;
  readonly detail: string;
  readonly requestId: string;
  readonly inputId: string;
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
    serveHttp(rookery, {
      port: 0,
      version: "1.2.3",
      env,
      cwd: cwd.path,
      log: (line) => void lines.push(line),
      ...http,
      ...more,
    });
  const server = opening.use(await serve());
  const owned = opening.move();
  const call = async (method: string, path: string, body?: unknown, init: RequestInit = {}): Promise<HttpResult> => {
    const response = await fetch(`${server.url}${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...init,
      headers: {
        authorization: `Bearer ${server.token}`,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(init.headers as Record<string, string> | undefined),
      },
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") === true && text !== "";
    const json = (isJson ? JSON.parse(text) : undefined) as AnyJson;
    if (json !== undefined) (response.ok ? checkResponse : checkProblem)(method, path, response.status, json);
    return { status: response.status, headers: response.headers, text, json };
  };
  return {
    server,
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
    /** Writes a session with this many small events after `session.opened`. */
    written: (events: number) => writeSession(store, events),
    /** Opens an event stream and collects its events. `ended` resolves when the stream ends. */
    stream: async (path: string, { signal, last }: { signal?: AbortSignal; last?: string } = {}) => {
      const headers = {
        authorization: `Bearer ${server.token}`,
        accept: "text/event-stream",
        ...(last && { "last-event-id": last }),
      };
      const response = await fetch(`${server.url}${path}`, { headers, ...(signal && { signal }) });
      return { response, ...readEventStream(response) };
    },
    /** Sends raw bytes and returns everything received until the server closes the connection. */
    raw: (bytes: string, { keep = false } = {}) => sendRawBytes(server.port, bytes, keep),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** Throws if a response does not match its schema exactly. */
function checkResponse(method: string, path: string, status: number, json: unknown): void {
  const route = findRoute(method, path);
  const schema = route?.responses[status]?.schema;
  if (schema === undefined)
    throw new Error(`${method} ${path} responded with ${status}, which its route does not declare`);
  const parsed = JSON.stringify(sortKeys(schema.parse(json)));
  if (parsed !== JSON.stringify(sortKeys(json)))
    throw new Error(`${method} ${path} responded with undeclared fields: ${JSON.stringify(json)}`);
}

function checkProblem(method: string, path: string, status: number, { code }: AnyJson): void {
  const route = findRoute(method, path);
  if (route === undefined || listProblemCodes(route).get(status)?.has(code) === true) return;
  throw new Error(`${method} ${path} responded with ${status} ${code}, which the document does not declare`);
}

function findRoute(method: string, path: string): HttpRoute | undefined {
  const parts = path.split("?")[0]?.split("/") ?? [];
  return ROUTES.find((route) => {
    const pattern = route.path.split("/");
    return (
      route.method === method &&
      pattern.length === parts.length &&
      pattern.every((part, at) => part.startsWith(":") || part === parts[at])
    );
  });
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, inner]) => [key, sortKeys(inner)]),
  );
}

export interface ReceivedEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

function readEventStream(response: Response) {
  const events: ReceivedEvent[] = [];
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

function sendRawBytes(port: number, bytes: string, keep: boolean): Promise<string> {
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
