/** Every public method and function of the library, with a valid value and wrong values for each argument. */
import { PassThrough } from "node:stream";
import { connectLocal, createClient, remoteTasks } from "../../src/client/index.ts";
import { Rookery, copyStore, openSqliteStore, serveStdio } from "../../src/index.ts";
import {
  NO_OBJECT,
  aFunction,
  flag,
  integer,
  list,
  number,
  object,
  signal,
  text,
  word,
  type Argument,
} from "./wrong-values.ts";
import { SESSIONS_QUERY, STORE, type Method, type Methods, type Scene } from "./store-methods.ts";

const part = object({ type: { valid: "text", wrong: ["sound", 5] }, text: text() }, [
  { type: "text", text: "a", b: 1 },
]);
const blob = object({ type: { valid: "blob", wrong: [] }, hash: text(), mediaType: text(), name: text() });
const inputs = [...list(part).wrong, ...blob.wrong.map((one) => [one]), []];
const input: Argument = { valid: "text", wrong: [true, Symbol("input"), ...inputs.filter((one) => one !== "text")] };
const policy = word("ask");
const budget = object({ tokens: integer, usd: number, steps: integer, seconds: number }, [{ usd: -1 }, { euros: 1 }]);
const variables: Argument = { valid: { A: "1" }, wrong: [...NO_OBJECT, { A: 1 }, { A: null }] };
const servers = list({
  valid: { type: "unusable", name: "a", reason: "b" },
  wrong: [
    {},
    { type: "other", name: "a" },
    { type: "stdio", name: "a" },
    { type: "stdio", name: 5, command: "a", args: [], env: {} },
    { type: "stdio", name: "a", command: "a", args: "b", env: {} },
    { type: "stdio", name: "a", command: "a", args: [5], env: {} },
    { type: "http", name: "a", url: 5, headers: {} },
    { type: "http", name: "a", url: "http://127.0.0.1", headers: { a: 1 } },
    { type: "memory", name: "a", open: "b" },
    { type: "unusable", name: "a", reason: {} },
  ],
});
const overlay = object({
  sources: list({ valid: { list: () => [] }, wrong: [null, {}, { list: 5 }] }),
  contributions: list(
    object({ slot: word("role"), title: text(), content: text(), priority: number, tools: list(text()) }),
  ),
  base: flag,
});
const answer = object({ decision: word("deny"), scope: word("once"), message: text(), prefix: text() }, [
  { action: "perhaps" },
  { action: 5 },
  { decision: "deny", action: "accept" },
  {},
]);
const merge = object({
  how: word("merge"),
  into: text(),
  gate: { valid: false, wrong: [null, 5, true, {}] },
  message: text(),
});
const server = object({ name: text(), open: aFunction });

const START_TASK = object(
  {
    prompt: text(),
    id: text(),
    title: text(),
    cwd: text(),
    agent: text(),
    model: text(),
    permissions: policy,
    base: text(),
    priority: number,
    needs: list(text()),
    retries: number,
    budget,
    pipeline: text(),
  },
  [{}, { prompt: "a", prio: 1 }],
);

/** For an argument that may be a text instead. */
const orText = ({ valid, wrong }: Argument): Argument => ({
  valid,
  wrong: wrong.filter((one) => typeof one !== "string"),
});
const definition = object(
  {
    name: text(),
    backend: { valid: "api", wrong: [...text().wrong, "", "opncode", "a/b", "__proto__"] }, // a program may register others
    model: text(),
    prompts: list(orText(object({ text: text() }))),
    tools: object({ deny: list(text()) }),
    mcp: list(orText(object({ name: text(), command: list(text()) }))),
    env: variables,
    permissions: policy,
    retries: integer,
  },
  [{ name: "a", colour: "red" }, { name: "a", env: { API_TOKEN: "b" } }, { name: "a/b" }, {}],
);
const agent = orText(definition);

const nativeId: Argument = {
  valid: "one-1",
  wrong: [null, 5, {}, "", "../one", "a/b", "-p", "a\u0000b", "x".repeat(300)],
};
const backend = word("claude-code");

const callOfTool = object({ toolId: text(), name: text(), input: { valid: {}, wrong: NO_OBJECT } });
const resultOfTool = object({ toolId: text(), text: text(), outcome: word("ok"), blobs: list(blob) });
const messages: Argument = {
  valid: [],
  wrong: [
    ...list(object({ role: word("user"), text: text() }, [{ role: "user" }, { role: "user", parts: [] }])).wrong,
    ...list(object({ role: word("user"), parts: list(part) })).wrong,
    ...list(object({ role: word("tool"), results: list(resultOfTool) })).wrong,
    ...object({ role: word("assistant"), text: text(), thought: text(), toolCalls: list(callOfTool) }).wrong.map(
      (one) => [{ role: "user", text: "a" }, one],
    ),
  ],
};

export const ROOKERY: Methods = {
  adoptSession: [
    ({ rookery }, options) => rookery.adoptSession(options),
    object(
      {
        backend,
        nativeId,
        agent,
        model: text(),
        cwd: text(),
        title: text(),
        task: text(),
        permissions: policy,
        env: variables,
      },
      [{ backend: "claude-code" }, { nativeId: "a" }, { backend: "claude-code", nativeId: "a", id: "b" }],
    ),
  ],
  nativeSessions: [({ rookery }, query) => rookery.nativeSessions(query), object({ cwd: text(), backend })],
  openSession: [
    ({ rookery }, options) => rookery.openSession(options),
    object(
      {
        id: text(),
        adopt: object({ backend, nativeId }, [{ backend: "claude-code" }, { nativeId: "a" }]),
        agent,
        model: text(),
        cwd: text(),
        title: text(),
        messages,
        task: text(),
        permissions: policy,
        budget,
        taskBudget: object({ budget, elsewhere: { valid: {}, wrong: [null, 5, { usd: "1" }] } }),
        baseUrl: text(),
        apiKey: text(),
        mcpServers: servers,
        env: variables,
        folders: list(text()),
        toolsOnly: flag,
        attended: flag,
      },
      [{ permission: "all" }],
    ),
  ],
  follow: [
    ({ rookery }, query) => rookery.follow(query),
    object({ session: text(), task: text(), after: integer, signal }),
  ],
  startTask: [({ rookery }, request) => rookery.startTask(request), START_TASK],
  runTasks: [
    ({ rookery }, options) => rookery.runTasks(options),
    object({ only: text(), signal, onProblem: aFunction }),
  ],
  runWorker: [
    ({ rookery }, options) => rookery.runWorker(options),
    object({
      kind: word("serve"),
      version: text(),
      maxRunning: integer,
      labels: list(text()),
      agents: list(text()),
      signal,
      drainTimeoutMs: number,
      onStarted: aFunction,
      onProblem: aFunction,
    }),
  ],
  askWorkers: [({ rookery }, ...args) => rookery.askWorkers(...(args as [never, never])), text(), word("drain")],
  sessions: [({ rookery }, query) => rookery.sessions(query), SESSIONS_QUERY],
  answer: [({ rookery }, ...args) => rookery.answer(...(args as [never, never, never])), text(), text(), answer],
  tell: [
    ({ rookery }, ...args) => rookery.tell(...(args as [never, never, never])),
    text(),
    input,
    object({ deliver: word("steer") }),
  ],
  withdraw: [({ rookery }, ...args) => rookery.withdraw(...(args as [never, never])), text(), text()],
  cancelTurn: [({ rookery }, id) => rookery.cancelTurn(id), text()],
  revoke: [
    ({ rookery }, ...args) => rookery.revoke(...(args as [never, never, never])),
    text(),
    text(),
    object({ prefix: text() }),
  ],
  search: [
    ({ rookery }, ...args) => rookery.search(...(args as [never, never])),
    text(),
    object({ cursor: object({ sessionId: text(), before: integer }), limit: integer, maxMs: number, signal }),
  ],
  endSession: [({ rookery }, ...args) => rookery.endSession(...(args as [never, never])), text(), text()],
  forkSession: [
    ({ rookery }, ...args) => rookery.forkSession(...(args as [never, never])),
    text(),
    object({ cwd: text(), title: text(), through: integer }),
  ],
  deleteSession: [({ rookery }, id) => rookery.deleteSession(id), text()],
  declaredServers: [
    ({ rookery }, query) => rookery.declaredServers(query),
    object({ cwd: text(), agent: text(), untrusted: word("refuse") }),
  ],
  describeConfig: [({ rookery }, cwd) => rookery.describeConfig(cwd), text()],
  connectServers: [
    ({ rookery }, ...args) => rookery.connectServers(...(args as [never, never])),
    servers,
    object({
      cwd: text(),
      betweenTurns: object({ record: aFunction, ask: aFunction, permit: aFunction }, [{}]),
      bounds: { valid: {}, wrong: [null, 5] },
    }),
  ],
  authorizer: [
    ({ rookery }, spec) => rookery.authorizer(spec),
    object({ type: word("http"), name: text(), url: text(), headers: variables }),
  ],
};

export const SESSION: Methods = {
  resume: [({ session }, options) => session.resume(options), object({ signal, turnId: text() })],
  withdraw: [({ session }, id) => session.withdraw(id), text()],
  revoke: [({ session }, ...args) => session.revoke(...(args as [never, never])), text(), object({ prefix: text() })],
  setOverlay: [({ session }, given) => session.setOverlay(given), overlay],
  chooseTool: [({ session }, ...args) => session.chooseTool(...(args as [never, never])), text(), flag],
  expand: [({ session }, ...args) => session.expand(...(args as [never, never])), text(), object({ signal })],
  prompt: [
    ({ session }, ...args) => session.prompt(...(args as [never, never])).outcome,
    input,
    object({ turnId: text(), signal }, [{ turnId: "" }]),
  ],
  queue: [
    ({ session }, ...args) => session.queue(...(args as [never, never])),
    input,
    object({ deliver: word("steer") }),
  ],
  change: [
    ({ session }, changes) => session.change(changes),
    object({ agent, model: text(), cwd: text(), permissions: policy }, [{ modle: "a" }]),
  ],
  replaceConversation: [({ session }, messages) => session.replaceConversation(messages), messages],
  answer: [({ session }, ...args) => session.answer(...(args as [never, never])), text(), answer],
  end: [({ session }, reason) => session.end(reason), text()],
  close: [({ session }, options) => session.close(options), object({ cancelParked: flag }, [{ cancel: true }])],
};

export const TOOLS: Methods = {
  setOverlay: [({ session }, given) => session.tools.setOverlay(given), overlay],
  choose: [({ session }, ...args) => session.tools.choose(...(args as [never, never])), text(), flag],
  onChange: [({ session }, listener) => session.tools.onChange(listener), aFunction],
  settled: [({ session }, options) => session.tools.settled(options), object({ signal })],
  getPrompt: [
    ({ session }, ...args) => session.tools.getPrompt(...(args as [never, never, never])),
    text(),
    text(),
    object({ args: variables, signal }),
  ],
  readResource: [
    ({ session }, ...args) => session.tools.readResource(...(args as [never, never, never])),
    text(),
    text(),
    object({ signal }),
  ],
  login: [({ session }, ...args) => session.tools.login(...(args as [never, never])), text(), object({ signal })],
  reconnect: [({ session }, name) => session.tools.reconnect(name), text()],
};

export const TASKS: Methods = {
  start: [({ rookery }, request) => rookery.tasks.start(request), START_TASK],
  list: [
    ({ rookery }, query) => rookery.tasks.list(query),
    object({ status: list(word("queued")), cwd: text(), agent: text(), before: text(), limit: integer }),
  ],
  show: [({ rookery }, id) => rookery.tasks.show(id), text()],
  stop: [({ rookery }, ...args) => rookery.tasks.stop(...(args as [never, never])), text(), object({ reason: text() })],
  resume: [
    ({ rookery }, ...args) => rookery.tasks.resume(...(args as [never, never])),
    text(),
    object({ prompt: text(), budget }),
  ],
  diff: [({ rookery }, ...args) => rookery.tasks.diff(...(args as [never, never])), text(), object({ patch: flag })],
  predictMerge: [({ rookery }, ...args) => rookery.tasks.predictMerge(...(args as [never, never])), text(), merge],
  merge: [({ rookery }, ...args) => rookery.tasks.merge(...(args as [never, never])), text(), merge],
  remove: [
    ({ rookery }, ...args) => rookery.tasks.remove(...(args as [never, never])),
    text(),
    object({ force: flag }),
  ],
  collect: [({ rookery }, given) => rookery.tasks.collect(given), object({ dryRun: flag, cwd: text(), quota: number })],
  follow: [({ rookery }, query) => rookery.tasks.follow(query), object({ task: text(), after: integer, signal })],
};

const streams = () => ({ input: new PassThrough().end(), output: new PassThrough() });

/** Functions and static methods of the package's entry points. */
const FUNCTIONS: Methods = {
  "Rookery.open": [
    (_, options) => Rookery.open(options),
    object({
      env: variables,
      home: text("/dev/null/home"),
      cwd: text(),
      store: { valid: undefined, wrong: [null, 5, "text", {}] },
      clock: object({ now: aFunction, awake: aFunction }),
      leaseTiming: object({ ttlMs: number, renewMs: number }, [{ ttlMs: 0, renewMs: 0 }]),
      plugins: list(aFunction),
    }),
  ],
  openSqliteStore: [
    (_, options) => openSqliteStore(options),
    object({ path: text("/dev/null/log.db"), lockTimeout: integer }, [{}]),
  ],
  copyStore: [
    (_, ...args) => copyStore(...(args as [never, never, never])),
    object({ path: text("/dev/null/log.db") }, [{}, { url: 5 }]),
    object({ path: text("/dev/null/copy.db") }, [{}, { url: 5 }]),
    object({ restart: flag, onProgress: aFunction }),
  ],
  serveStdio: [
    (_, ...args) => serveStdio(...(args as [never, never, never])),
    server,
    { valid: streams(), wrong: [...NO_OBJECT, {}, { ...streams(), input: 5 }, { ...streams(), output: null }] },
    object({ signal }),
  ],
  "LoopbackHttp.serve": [({ loopback }, given) => loopback.serve(given), server],
  createClient: [(_, options) => createClient(options), object({ url: text(), token: text(), fetch: aFunction }, [{}])],
  "client.follow": [
    ({ client }, query) => client.follow(query),
    object({ session: text(), task: text(), after: integer, signal, tries: integer, silenceMs: number }),
  ],
  connectLocal: [
    (_, options) => connectLocal(options),
    object({ home: text("/dev/null/home"), env: variables, fetch: aFunction }),
  ],
  remoteTasks: [
    (_, client) => remoteTasks(client),
    object({ url: text(), GET: aFunction, POST: aFunction, DELETE: aFunction, follow: aFunction }, [{}]),
  ],
};

/** The server validates the content of the options. */
const REMOTE: Methods = Object.fromEntries(
  Object.entries(TASKS).map(([name, [, first = text(), ...rest]]): [string, Method] => {
    const isId = first.valid === "text";
    const options = { valid: undefined, wrong: NO_OBJECT };
    const call = ({ client }: Scene, ...args: never[]) =>
      (remoteTasks(client)[name as "show"] as (...given: never[]) => unknown)(...args);
    return [name, isId ? [call, first, ...rest.map(() => options)] : [call, options]];
  }),
);

export const TABLES: Readonly<Record<string, Methods>> = { ROOKERY, SESSION, TOOLS, TASKS, REMOTE, STORE, FUNCTIONS };
