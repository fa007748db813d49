import { expect, it } from "vitest";
import { deferred } from "../../stdx/index.ts";
import { Connection } from "../connection/connection.ts";
import { PeerError, RPC, peerError } from "../errors.ts";
import type * as acp from "../schema.ts";
import { transportPair } from "../../programs/transport.ts";
import type { AgentHandlers } from "./handlers.ts";
import type { ClientPeer } from "./client-peer.ts";
import { serveAgent } from "./server.ts";

const ECHO: AgentHandlers = {
  initialize: () => ({ agentCapabilities: { loadSession: true } }),
  newSession: () => ({ sessionId: "s1" }),
  prompt: () => ({ stopReason: "end_turn" }),
};

interface Scene {
  /** A raw connection, without client-side checks. */
  readonly client: Connection;
  readonly peer: ClientPeer;
  readonly updates: acp.SessionNotification[];
  readonly failures: unknown[];
  readonly server: ReturnType<typeof serveAgent>;
}

function open(
  handlers: Partial<AgentHandlers>,
  serve: (method: string, params: unknown) => unknown = () => ({}),
): Scene {
  const [near, far] = transportPair();
  const updates: acp.SessionNotification[] = [];
  const failures: unknown[] = [];
  const server = serveAgent({
    transport: far,
    handlers: () => ({ ...ECHO, ...handlers }),
    onFailure: (error) => failures.push(error),
  });
  const client = new Connection({
    transport: near,
    handlers: {
      request: ({ method, params }) => serve(method, params),
      notification: ({ params }) => void updates.push(params as acp.SessionNotification),
    },
  });
  return { client, peer: server.client, updates, failures, server };
}

const refused = async (answer: Promise<unknown>): Promise<[number, string]> => {
  const error: unknown = await answer.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(error instanceof PeerError)) throw new Error(`no error came but ${String(error)}`);
  return [error.code, error.message];
};

it.each([1, 0, 2, 65_535])("answers protocol version %d with 1", async (protocolVersion) => {
  const { client } = open({});
  expect(await client.request("initialize", { protocolVersion })).toEqual({
    protocolVersion: 1,
    agentCapabilities: { loadSession: true },
  });
});

it.each<[string, unknown, string]>([
  ["initialize", {}, "protocolVersion of initialize must be an integer"],
  ["initialize", { protocolVersion: "1" }, "must be an integer"],
  [
    "initialize",
    { protocolVersion: 1, clientCapabilities: "all" },
    "clientCapabilities of initialize must be an object",
  ],
  ["session/new", "x", "the params of session/new must be an object"],
  ["session/new", [], "the params of session/new must be an object"],
  ["session/new", { mcpServers: [] }, "cwd of session/new must be a string"],
  ["session/new", { cwd: "src", mcpServers: [] }, 'cwd of session/new must be an absolute path, not "src"'],
  ["session/new", { cwd: "/a\0b", mcpServers: [] }, "cwd of session/new must not contain a NUL"],
  ["session/new", { cwd: "/a", mcpServers: {} }, "mcpServers of session/new must be a list of objects"],
  ["session/new", { cwd: "/a", mcpServers: ["x"] }, "mcpServers of session/new must be a list of objects"],
  [
    "session/new",
    { cwd: "/a", additionalDirectories: ["b"] },
    "additionalDirectories of session/new must be an absolute",
  ],
  ["session/prompt", { prompt: [] }, "sessionId of session/prompt must be a string"],
  ["session/prompt", { sessionId: "s1", prompt: "Hi" }, "prompt of session/prompt must be a list of content blocks"],
  ["session/prompt", { sessionId: "s1", prompt: ["Hi"] }, "but [0] is not one"],
  ["session/prompt", { sessionId: "s1", prompt: [{ type: "text" }] }, "invalid at [0]: text must be a string"],
  ["session/prompt", { sessionId: "s1", prompt: [{ type: "image", data: "" }] }, "mimeType must be a string"],
])("refuses %s with %j as invalid params and keeps the connection open", async (method, params, words) => {
  const { client } = open({});
  const [code, message] = await refused(client.request(method, params));
  expect([code, message]).toEqual([RPC.invalidParams, expect.stringContaining(words)]);
  expect(await client.request("session/new", { cwd: "/", mcpServers: [] })).toEqual({ sessionId: "s1" });
});

it.each(["session/load", "session/fork", "session/steal", "_x/y", "constructor"])(
  "answers %s with method not found if the agent has no handler for it",
  async (method) => {
    const { client } = open({});
    const params = { sessionId: "s1", cwd: "/" };
    expect(await refused(client.request(method, params))).toEqual([RPC.methodNotFound, `there is no method ${method}`]);
  },
);

it("passes extension messages on unchanged and sends a handler's PeerError back unchanged", async () => {
  const told: unknown[] = [];
  const { client } = open({
    request: ({ method, params }) => {
      if (method === "_x/no") throw peerError(-7, "no", { why: [1] });
      return { method, params };
    },
    notification: ({ method, params }) => void told.push([method, params]),
  });
  expect(await client.request("_x/y", { a: [1] })).toEqual({ method: "_x/y", params: { a: [1] } });
  await expect(client.request("_x/no")).rejects.toMatchObject({ code: -7, data: { why: [1] } });
  await client.notify("_x/told", { b: 2 });
  await client.request("_x/y");
  expect(told).toEqual([["_x/told", { b: 2 }]]);
});

it("refuses a second prompt in a session while the first one runs, but not one in another session", async () => {
  const go = deferred();
  const { client } = open({
    prompt: async ({ sessionId }) => {
      if (sessionId === "s1") await go.promise;
      return { stopReason: "end_turn" };
    },
  });
  const prompt = (sessionId: string) => client.request("session/prompt", { sessionId, prompt: [] });
  const first = prompt("s1");
  expect(await refused(prompt("s1"))).toEqual([RPC.invalidRequest, expect.stringContaining("session s1 is busy")]);
  expect(await prompt("s2")).toEqual({ stopReason: "end_turn" });
  go.resolve();
  expect(await first).toEqual({ stopReason: "end_turn" });
  expect(await prompt("s1")).toEqual({ stopReason: "end_turn" });
});

const untilAborted: AgentHandlers["prompt"] = (_, { signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));

it("cancels the prompt of the session that session/cancel names, and no other", async () => {
  const { client } = open({ prompt: untilAborted });
  const prompts = ["s1", "s2"].map((sessionId) => client.request("session/prompt", { sessionId, prompt: [] }));
  await client.notify("session/cancel", { sessionId: "s3" });
  await client.notify("session/cancel", { sessionId: "s2" });
  expect(await prompts[1]).toEqual({ stopReason: "cancelled" });
  await client.notify("session/cancel", { sessionId: "s1" });
  expect(await prompts[0]).toEqual({ stopReason: "cancelled" });
});

it("does not apply a cancel that arrives after the answer to the next prompt", async () => {
  const { client } = open({});
  await client.request("session/prompt", { sessionId: "s1", prompt: [] });
  await client.notify("session/cancel", { sessionId: "s1" });
  expect(await client.request("session/prompt", { sessionId: "s1", prompt: [] })).toEqual({ stopReason: "end_turn" });
});

it("answers a prompt as cancelled after $/cancel_request", async () => {
  const { client } = open({ prompt: untilAborted });
  const cancel = new AbortController();
  const answer = client.request("session/prompt", { sessionId: "s1", prompt: [] }, { signal: cancel.signal });
  cancel.abort();
  expect(await answer).toEqual({ stopReason: "cancelled" });
});

it("answers a failed prompt with an error if nobody cancelled it", async () => {
  const { client } = open({
    prompt: () => {
      throw new Error("out of ink");
    },
  });
  const answer = client.request("session/prompt", { sessionId: "s1", prompt: [] });
  expect(await refused(answer)).toEqual([RPC.internalError, "out of ink"]);
});

it("reports a cancel without a session id to onFailure only", async () => {
  const { client, failures } = open({});
  await client.notify("session/cancel", {});
  await client.request("session/new", { cwd: "/" });
  expect(failures).toMatchObject([{ code: RPC.invalidParams }]);
});

it("sends an early answer before everything the handler sends later", async () => {
  const { client, peer, updates } = open({
    newSession: async (_, context) => {
      context.respond({ sessionId: "s1" });
      await peer.update("s1", { sessionUpdate: "current_mode_update", currentModeId: "ask" });
      return { sessionId: "s2" };
    },
  });
  const seen: unknown[] = [];
  const onResponse = (): void => void seen.push(...updates);
  expect(await client.request("session/new", { cwd: "/" }, { onResponse })).toEqual({ sessionId: "s1" });
  await client.request("session/prompt", { sessionId: "s1", prompt: [] });
  expect([seen, updates]).toMatchObject([[], [{ sessionId: "s1" }]]);
});

it("calls the client only for features that it advertises", async () => {
  const asked: string[] = [];
  const { client, peer, updates } = open({}, (method) => {
    asked.push(method);
    return {};
  });
  const session = { sessionId: "s1" };
  const calls = [
    () => peer.readTextFile({ ...session, path: "/a" }),
    () => peer.writeTextFile({ ...session, path: "/a", content: "" }),
    () => peer.createTerminal({ ...session, command: "ls" }),
    () => peer.terminalOutput({ ...session, terminalId: "t" }),
    () => peer.waitForTerminalExit({ ...session, terminalId: "t" }),
    () => peer.killTerminal({ ...session, terminalId: "t" }),
    () => peer.releaseTerminal({ ...session, terminalId: "t" }),
    () => peer.elicit({ ...session, mode: "form", message: "?", requestedSchema: { type: "object" } }),
    () => peer.elicit({ ...session, mode: "url", message: "?", url: "https://x", elicitationId: "e" }),
  ];
  const notice: acp.SessionUpdate = { sessionUpdate: "notice", severity: "info", title: "Hi" };
  await client.request("initialize", { protocolVersion: 1 });
  for (const ask of calls) expect(ask).toThrow(expect.objectContaining({ code: "backend_unsupported" }));
  await peer.update("s1", notice);

  const clientCapabilities: acp.ClientCapabilities = {
    fs: { readTextFile: true, writeTextFile: true },
    terminal: true,
    elicitation: { form: {}, url: {} },
    session: { notices: {} },
  };
  await client.request("initialize", { protocolVersion: 1, clientCapabilities });
  for (const ask of calls) await ask();
  await peer.update("s1", notice);
  await client.request("session/new", { cwd: "/" });
  expect(updates).toEqual([{ sessionId: "s1", update: notice }]);
  expect(asked).toEqual([
    "fs/read_text_file",
    "fs/write_text_file",
    "terminal/create",
    "terminal/output",
    "terminal/wait_for_exit",
    "terminal/kill",
    "terminal/release",
    "elicitation/create",
    "elicitation/create",
  ]);
});

it("cancels and answers the open prompts when the client disconnects", async () => {
  const ended: string[] = [];
  const [near, far] = transportPair();
  const lines: string[] = [];
  const over = deferred();
  near.start({
    line: (line) => lines.push(line),
    oversize: () => undefined,
    ended: () => over.resolve(),
    drained: () => undefined,
    writeFailed: () => undefined,
  });
  const server = serveAgent({
    transport: far,
    handlers: () => ({
      ...ECHO,
      prompt: async (params, context) => {
        await Promise.resolve(untilAborted(params, context)).catch(() => ended.push(params.sessionId));
        return { stopReason: "cancelled" };
      },
    }),
  });
  near.write(`{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"s1","prompt":[]}}\n`);
  await near.end();
  await Promise.all([server.closed, over.promise]);
  expect(ended).toEqual(["s1"]);
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { jsonrpc: "2.0", id: 7, result: { stopReason: "cancelled" } },
  ]);
});

it("stops waiting for a prompt that does not end when the server closes", async () => {
  const [near, far] = transportPair();
  const server = serveAgent({
    transport: far,
    cancelMs: 1,
    handlers: () => ({ ...ECHO, prompt: () => new Promise(() => undefined) }),
  });
  const client = new Connection({ transport: near });
  const answer = client.request("session/prompt", { sessionId: "s1", prompt: [] });
  const answered = refused(answer);
  await client.request("session/new", { cwd: "/" });
  await server.close();
  expect(await answered).toEqual([RPC.internalError, "the connection is being closed"]);
});
