import { describe, expect, it } from "vitest";
import { ConnectionClosed, type ClientOptions } from "../index.ts";
import { getRejection, openScene, stalled, describeItems } from "./test-scene.ts";

const exited: Partial<ClientOptions> = {
  exit: () => Promise.resolve({ exitCode: 7, signal: null, stderr: "out of cheese" }),
};

describe("an agent that ends in a turn", () => {
  it("delivers everything it said, then the error with its exit", async () => {
    await using scene = await openScene({ prompts: [[{ say: ["a", "b"] }, { exit: { code: 7 } }]] }, exited);
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("go");
    const seen: string[] = [];
    const error = await getRejection(
      (async () => {
        for await (const item of turn) seen.push(...describeItems([item]));
      })(),
    );
    expect(seen).toEqual(["turn a", "turn b"]);
    expect(error).toBeInstanceOf(ConnectionClosed);
    expect(error).toMatchObject({ end: "eof", exit: { exitCode: 7, stderr: "out of cheese" } });
    expect(error.message).toBe("the agent ended (exit code 7); its last output: out of cheese");
    expect(await getRejection(turn.response)).toBe(error);
    expect(await getRejection(session.idle().then(() => session.prompt("go").finish()))).toBeInstanceOf(
      ConnectionClosed,
    );
  });

  it("delivers everything it said even to a slow reader", async () => {
    const padding = "x".repeat(16 * 1024);
    await using scene = await openScene({ prompts: [[{ flood: { count: 400, padding } }, { exit: {} }]] });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("go");
    await stalled(scene);
    let read = 0;
    const error = await getRejection(
      (async () => {
        for await (const _ of turn) read += 1;
      })(),
    );
    expect(read).toBe(400);
    expect(error).toBeInstanceOf(ConnectionClosed);
  });

  it("fails every running turn and every pending request", async () => {
    await using scene = await openScene({
      prompts: [[{ waitForCancel: true }], [{ waitForMessage: "_own/thing" }, { exit: {} }]],
      on: { "_own/thing": { steps: [{ hang: true }] } },
    });
    const [one, other] = [await scene.client.session("/a").create(), await scene.client.session("/b").create()];
    const failures = [
      getRejection(one.prompt("go").finish()),
      getRejection(other.prompt("go").finish()),
      getRejection(scene.client.request("_own/thing")),
    ];
    for (const error of await Promise.all(failures)) expect(error).toBeInstanceOf(ConnectionClosed);
  });

  it("fails the turn of a disposed session too", async () => {
    await using scene = await openScene({
      prompts: [{ steps: [{ waitForMessage: "session/cancel" }, { exit: {} }], onCancel: "ignore" }],
    });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("go");
    await session[Symbol.asyncDispose]();
    expect(await getRejection(turn.finish())).toBeInstanceOf(ConnectionClosed);
    expect(await getRejection(session.next())).toMatchObject({ code: "session_closed" });
  });
});

describe("a reader outside of turns", () => {
  it("gets what arrived, then always the error with the agent's exit", async () => {
    await using scene = await openScene(
      { on: { "session/new": { after: [{ say: "commands" }, { exit: { code: 7 } }] } } },
      exited,
    );
    const session = await scene.client.session("/project").create();
    expect(describeItems([await session.next()])).toEqual(["between commands"]);
    for (let time = 0; time < 3; time += 1)
      expect(await getRejection(session.next())).toMatchObject({ exit: { exitCode: 7 } });
  });

  it("gets an error when the client closes", async () => {
    await using scene = await openScene({});
    const session = await scene.client.session("/project").create();
    const waiting = [getRejection(session.next()), getRejection(session.next())];
    await scene.client.close();
    for (const error of await Promise.all(waiting)) expect(error).toMatchObject({ end: "closed" });
    expect(await getRejection(session.prompt("go").finish())).toMatchObject({ end: "closed" });
  });

  it("gets session_closed when the session is disposed", async () => {
    await using scene = await openScene({});
    const session = await scene.client.session("/project").create();
    const waiting = getRejection(session.next());
    await session[Symbol.asyncDispose]();
    await session[Symbol.asyncDispose]();
    expect(await waiting).toMatchObject({ code: "session_closed" });
  });
});

describe("closing a client", () => {
  it("fails the running turn and answers the agent's open requests", async () => {
    await using scene = await openScene(
      { prompts: [[{ say: "a" }, { permission: {} }]] },
      { serve: { permission: () => new Promise(() => undefined) } },
    );
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("go");
    const reader = turn[Symbol.asyncIterator]();
    await reader.next();
    await Promise.all([scene.client.close(), scene.client.close()]);
    expect(await getRejection(reader.next())).toMatchObject({ end: "closed" });
    await scene.agent.closed;
  });

  it("fails sessions that are being started", async () => {
    await using scene = await openScene({ on: { "session/new": { steps: [{ hang: true }] } } });
    const starting = [
      getRejection(scene.client.session("/project").create()),
      getRejection(scene.client.session("/project").create()),
    ];
    await scene.agent.receivedMethod("session/new");
    await scene.client.close();
    for (const error of await Promise.all(starting)) expect(error).toMatchObject({ end: "closed" });
  });
});
