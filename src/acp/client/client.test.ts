import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { isRookeryError } from "../../domain/errors.ts";
import { ConnectionClosed, connectClient, PeerError, streamTransport, type Noise } from "../index.ts";
import { heldMemory } from "../../programs/test-memory.ts";
import { getRejection, openScene } from "./test-scene.ts";

const transport = () => streamTransport(new PassThrough(), new PassThrough());

describe("a client", () => {
  it("introduces itself and keeps what the agent answers", async () => {
    const info = { name: "editor", version: "3" };
    const readTextFile = () => ({ content: "" });
    const elicitation = () => ({ action: "cancel" }) as const;
    await using scene = await openScene(
      { initialize: { own: { a: 1 } } },
      { info, serve: { readTextFile, elicitation } },
    );
    expect(scene.sent("initialize")).toEqual([
      {
        protocolVersion: 1,
        clientInfo: info,
        clientCapabilities: {
          fs: { readTextFile: true, writeTextFile: false },
          terminal: false,
          elicitation: { form: {}, url: {} },
          session: { configOptions: { boolean: {} } },
        },
      },
    ]);
    expect(scene.client.agent).toMatchObject({
      protocolVersion: 1,
      own: { a: 1 },
      agentInfo: { name: "scripted-agent" },
    });
    expect(scene.client.capabilities.loadSession).toBe(true);
    expect(scene.client.authMethods).toEqual([]);
  });

  it("advertises the capabilities that it is given", async () => {
    const capabilities = { terminal: true, _meta: { own: 1 } };
    await using scene = await openScene({}, { capabilities });
    expect(scene.sent("initialize")).toMatchObject([{ clientCapabilities: capabilities }]);
  });

  it.each([
    ["another version", { protocolVersion: 2 }, /speaks version 2 of the protocol, but this client speaks version 1$/],
    ["no version", {}, /answered initialize without a valid protocol version/],
    ["null", null, /answered initialize without a valid protocol version/],
  ])("rejects if the agent answers initialize with %s", async (_what, result, message) => {
    const error = await getRejection(openScene({ on: { initialize: { answer: { result } } } }));
    expect(isRookeryError(error, "backend_unsupported")).toBe(true);
    expect(error.message).toMatch(message);
  });

  it("rejects if the agent refuses initialize or exits", async () => {
    const error = { code: -32603, message: "no", data: 1 };
    expect(await getRejection(openScene({ on: { initialize: { answer: { error } } } }))).toBeInstanceOf(PeerError);
    expect(await getRejection(openScene({ onStart: [{ exit: {} }] }))).toBeInstanceOf(ConnectionClosed);
  });

  it("stops connecting to an agent that never answers when the signal fires", async () => {
    const giveUp = new AbortController();
    const connecting = getRejection(connectClient({ transport: transport(), signal: giveUp.signal }));
    giveUp.abort();
    expect(await connecting).toBe(giveUp.signal.reason);
    expect(await getRejection(connectClient({ transport: transport(), signal: giveUp.signal }))).toBe(
      giveUp.signal.reason,
    );
  });

  it("logs in and out", async () => {
    await using scene = await openScene({ auth: {} });
    const { client } = scene;
    expect(client.authMethods).toMatchObject([{ id: "scripted" }]);
    expect(await getRejection(client.session("/project").create())).toMatchObject({ code: -32000 });
    expect(await getRejection(client.authenticate("none"))).toBeInstanceOf(PeerError);
    await client.authenticate("scripted");
    expect((await client.session("/project").create()).id).toBe("session-1");
    await client.logout();
    expect(await getRejection(client.session("/project").create())).toMatchObject({ code: -32000 });
  });

  it("stops waiting for a login when the signal fires", async () => {
    await using scene = await openScene({ auth: {}, on: { authenticate: { steps: [{ hang: true }] } } });
    const giveUp = new AbortController();
    const login = getRejection(scene.client.authenticate("scripted", { signal: giveUp.signal }));
    await scene.agent.receivedMethod("authenticate");
    giveUp.abort();
    expect(await login).toBe(giveUp.signal.reason);
    await scene.agent.receivedMethod("$/cancel_request");
  });

  it("lists sessions page by page and deletes them", async () => {
    const sessions = ["a", "b", "c"].map((sessionId) => ({ sessionId, cwd: "/project" }));
    await using scene = await openScene({ sessions, pageSize: 2 });
    const { client } = scene;
    const first = await client.listSessions({ cwd: "/project" });
    expect(first.sessions.map(({ sessionId }) => sessionId)).toEqual(["a", "b"]);
    const second = await client.listSessions({ cursor: first.nextCursor });
    expect(second.sessions.map(({ sessionId }) => sessionId)).toEqual(["c"]);
    await client.deleteSession("b");
    expect((await client.listSessions()).sessions).toHaveLength(2);
  });

  it("closes the connection if its noise handler throws, with the error as the cause", async () => {
    const bad = new Error("bad handler");
    const onNoise = (): never => {
      throw bad;
    };
    await using scene = await openScene({ prompts: [[{ write: "debug\n" }, { waitForCancel: true }]] }, { onNoise });
    const session = await scene.client.session("/project").create();
    const error = await getRejection(session.prompt("go").finish());
    expect(error.cause).toMatchObject({ message: "a handler of noise failed", cause: bad });
  });

  it("keeps nothing of the answers that it received", async () => {
    await using scene = await openScene({ on: { "_own/big": { answer: { result: "x".repeat(256 * 1024) } } } });
    const before = heldMemory();
    for (let time = 0; time < 100; time += 1) await scene.client.request("_own/big");
    expect(heldMemory() - before).toBeLessThan(8 * 1024 * 1024);
  });

  it("reports output that is not a message and continues", async () => {
    const noise: Noise[] = [];
    await using scene = await openScene(
      { prompts: [[{ write: "debug: starting\n" }, { send: [1] }, { say: "hi" }]] },
      { onNoise: (line) => noise.push(line) },
    );
    const session = await scene.client.session("/project").create();
    expect(await session.prompt("go").readText()).toBe("hi");
    expect(noise.map(({ kind, text }) => `${kind} ${text}`)).toEqual(["not_json debug: starting", "not_a_message [1]"]);
  });
});
