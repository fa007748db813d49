import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { RPC } from "../../acp/errors.ts";
import type { Store } from "../../domain/index.ts";
import { call, calls, fault, say } from "../../testing/index.ts";
import { choosing, linesOf, openDesk, updated, updatesOf } from "./test-scene.ts";

describe("a session", () => {
  it("that is loaded is shown whole before the answer, as it was shown when it happened", async () => {
    await using desk = await openDesk([
      call("write", { path: "a.txt", content: "one\n" }, { thinking: "Hm.", text: ["Wri", "ting."] }),
      say("Done."),
      calls([
        { name: "read", input: { path: "a.txt" } },
        { name: "bash", input: { command: "exit 3" } },
      ]),
      say("Read."),
    ]);
    const first = await desk.editor({ serve: { permission: () => choosing("allow") } });
    const session = await first.client.session(desk.folder).create();
    await session.prompt("Write it").finish();
    await session.prompt([{ type: "text", text: "And read" }]).finish();
    const live = linesOf(
      updatesOf(first, session.id).filter(({ sessionUpdate }) => sessionUpdate !== "session_info_update"),
    );
    await session.close();

    const second = await desk.editor();
    const loaded = await second.client.session(desk.folder).load(session.id);
    const answered = second.wire.findIndex(({ direction, message }) => direction === "in" && message.id === 2);
    await second.came(updated("available_commands_update"));
    const before = linesOf(updatesOf({ wire: second.wire.slice(0, answered) }, session.id));
    expect(before).toEqual([
      "user Write it",
      "thinks Hm.",
      "says Writing.",
      "usage_update",
      "tool write a.txt pending",
      "tool in_progress",
      "tool completed diff content",
      "says Done.",
      "usage_update",
      "user And read",
      "usage_update",
      "tool read a.txt in_progress",
      "tool completed content",
      "tool bash: exit 3 pending",
      "tool in_progress",
      "tool failed content",
      "says Read.",
      "usage_update",
    ]);
    expect(before.filter((line) => !line.startsWith("user"))).toEqual(live.slice(1));
    const after = linesOf(updatesOf({ wire: second.wire.slice(answered) }, session.id));
    expect([after, loaded.response.modes]).toEqual([["available_commands_update"], session.response.modes]);
  });

  it("that is resumed is not shown again, and goes on", async () => {
    await using desk = await openDesk([say("one"), say("two")]);
    const first = await desk.editor();
    const session = await first.client.session(desk.folder).create();
    await session.prompt("1").finish();
    await first[Symbol.asyncDispose]();
    const second = await desk.editor();
    const resumed = await second.client.session(desk.folder).resume(session.id);
    expect(await resumed.prompt("2").readText()).toBe("two");
    expect(linesOf(updatesOf(second, session.id))).toEqual(["available_commands_update", "says two", "usage_update"]);
    expect(JSON.stringify(desk.model.requests.at(-1)?.messages)).toContain("one");
  });

  it("that was closed takes no prompt until it is loaded again", async () => {
    await using desk = await openDesk([say("one"), say("two")]);
    const { client } = await desk.editor();
    const session = await client.session(desk.folder).create();
    await session.prompt("1").finish();
    await session.close();
    const prompt = client.request("session/prompt", { sessionId: session.id, prompt: [{ type: "text", text: "2" }] });
    await expect(prompt).rejects.toMatchObject({ code: RPC.notFound });
    const again = await client.session(desk.folder).load(session.id);
    expect(await again.prompt("2").readText()).toContain("two");
  });

  it("that is closed in the middle of a prompt ends it as cancelled, before the answer", async () => {
    await using desk = await openDesk([say(Array<string>(500).fill("x "), { chunkDelayMs: 20 })]);
    const { client, wire, came } = await desk.editor();
    const session = await client.session(desk.folder).create();
    const turn = session.prompt("1");
    await came(updated("agent_message_chunk"));
    await session.close();
    expect(await turn.stopReason).toBe("cancelled");
    expect(wire.filter(({ message }) => "result" in message).map(({ message }) => message.result)).toMatchObject([
      {},
      {},
      { stopReason: "cancelled" },
      {},
    ]);
  });

  it("that is closed before its prompt has begun is let go of", async () => {
    await using desk = await openDesk([say("one"), say("two")]);
    const { client } = await desk.editor();
    const { id: sessionId } = await client.session(desk.folder).create();
    await client.request("session/close", { sessionId });
    await client.request("session/resume", { sessionId, cwd: desk.folder });
    const prompt = client.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "1" }] });
    const close = client.request("session/close", { sessionId });
    expect(await Promise.all([prompt, close])).toEqual([{ stopReason: "cancelled" }, {}]);
    await using elsewhere = await desk.open();
    const again = await elsewhere.openSession({ id: sessionId });
    expect(await again.prompt("2").outcome).toMatchObject({ status: "done" });
    await again[Symbol.asyncDispose]();
  });

  it("is shown to the end before a prompt is answered, however slowly its log is read", async () => {
    await using desk = await openDesk([say(["a", "b", "c"]), say("d")]);
    const { client, wire } = await desk.editor({ store: readSlowly(desk.store) });
    const session = await client.session(desk.folder).create();
    expect(await session.prompt("1").readText()).toBe("abc");
    const { id } = wire.at(-1)?.message ?? {};
    expect([id, await session.prompt("2").readText()]).toEqual([3, "d"]);
  });

  it("that is deleted is gone", async () => {
    await using desk = await openDesk([say("one")]);
    const { client } = await desk.editor();
    const session = await client.session(desk.folder).create();
    await session.prompt("1").finish();
    await client.deleteSession(session.id);
    expect(await client.listSessions()).toEqual({ sessions: [] });
    const load = client.request("session/load", { sessionId: session.id, cwd: desk.folder, mcpServers: [] });
    await expect(load).rejects.toMatchObject({ code: RPC.notFound });
    await expect(client.deleteSession(session.id)).rejects.toMatchObject({ code: RPC.notFound });
  });

  it("that another process drives can be watched, and says who drives it where it is prompted", async () => {
    await using desk = await openDesk([say("one"), say(["tw", "o"])]);
    await using elsewhere = await desk.open();
    const session = await elsewhere.openSession({ cwd: desk.folder });
    await session.prompt("1").outcome;
    const editor = await desk.editor();
    const watched = await editor.client.session(desk.folder).load(session.id);
    const turn = session.prompt("2");
    await editor.came(({ params }) => JSON.stringify(params ?? "").includes('"tw'));
    await turn.outcome;
    await expect(watched.prompt("3").finish()).rejects.toMatchObject({
      message: expect.stringContaining("is in use by process") as string,
      data: { code: "session_in_use" },
    });
    expect(linesOf(updatesOf(editor, session.id))).toEqual([
      "user 1",
      "says one",
      "usage_update",
      "available_commands_update",
      "user 2",
      "says two",
      "usage_update",
    ]);
    await session[Symbol.asyncDispose]();
  });
});

it("a new session in a folder that is not trusted is refused, with what to type", async () => {
  await using desk = await openDesk([]);
  await mkdir(join(desk.folder, ".git"));
  await writeFile(join(desk.folder, ".git", "HEAD"), "");
  await writeFile(join(desk.folder, "rookery.toml"), "[defaults]\nagent = 'anthropic'\n");
  const { client } = await desk.editor();
  await expect(client.session(desk.folder).create()).rejects.toMatchObject({
    message: expect.stringContaining("rookery trust") as string,
    data: { code: "not_trusted" },
  });
});

it.each([
  ["a folder that is not there", "session/new", { cwd: "/no/such/folder", mcpServers: [] }, RPC.invalidParams],
  ["a session that is not there", "session/load", { sessionId: "ses_x", cwd: "/", mcpServers: [] }, RPC.notFound],
  ["a session that is not open", "session/prompt", { sessionId: "ses_x", prompt: [] }, RPC.notFound],
  ["a session that is not there", "session/close", { sessionId: "ses_x" }, RPC.notFound],
  ["a page that is not there", "session/list", { cursor: "7" }, RPC.invalidParams],
  ["a login", "authenticate", { methodId: "x" }, RPC.invalidParams],
  ["a logout", "logout", {}, RPC.methodNotFound],
])("%s is refused: %s", async (_, method, params, code) => {
  await using desk = await openDesk([]);
  const { client } = await desk.editor();
  await expect(client.request(method, params)).rejects.toMatchObject({ code });
});

it.each([
  ["the limit of tokens", say("So far", { stopReason: "max_tokens" }), "max_tokens"],
  ["a refusal", say("I", { stopReason: "refusal" }), "refusal"],
])("%s is a reason to stop", async (_, reply, stopReason) => {
  await using desk = await openDesk([reply]);
  const { client } = await desk.editor();
  const session = await client.session(desk.folder).create();
  expect(await session.prompt("1").finish()).toMatchObject({ stopReason });
});

it.each([
  ["a wrong key", fault(401), RPC.authRequired, "provider_auth"],
  ["an unknown model", fault(404), RPC.internalError, "model_not_found"],
])("a turn that fails on %s fails its prompt alone, in words", async (_, broken, code, own) => {
  await using desk = await openDesk([broken, say("well")]);
  const { client } = await desk.editor();
  const session = await client.session(desk.folder).create();
  await expect(session.prompt("1").finish()).rejects.toMatchObject({ code, data: { code: own } });
  expect(await session.prompt("2").readText()).toBe("well");
});

it("several sessions run at once, each with its own updates", async () => {
  await using desk = await openDesk(({ lastUserText }) => say(`${lastUserText}!`));
  const { client } = await desk.editor();
  const names = ["a", "b", "c", "d"];
  const sessions = await Promise.all(names.map(() => client.session(desk.folder).create()));
  const texts = await Promise.all(sessions.map((session, index) => session.prompt(names[index] ?? "").readText()));
  expect(texts).toEqual(["a!", "b!", "c!", "d!"]);
});

it("sessions are listed by folder, newest first, page by page", async () => {
  await using desk = await openDesk([say("Hello")]);
  const { client, rookery } = await desk.editor();
  const other = join(desk.folder, "other");
  await mkdir(other);
  const made: string[] = [];
  for (let count = 0; count < 120; count += 1) {
    const session = await rookery.openSession({ cwd: desk.folder });
    made.unshift(session.id);
    await session[Symbol.asyncDispose]();
  }
  const session = await client.session(other).create();
  await session.prompt("Say hello\nplease").finish();
  const pages: string[][] = [];
  for (let cursor: string | undefined; ;) {
    const page = await client.listSessions({ cwd: desk.folder, ...(cursor !== undefined && { cursor }) });
    pages.push(page.sessions.map(({ sessionId }) => sessionId));
    cursor = page.nextCursor ?? undefined;
    if (cursor === undefined) break;
  }
  expect([pages.length, pages.flat()]).toEqual([3, made]);
  const { sessions } = await client.listSessions({ cwd: other });
  expect(sessions).toMatchObject([{ sessionId: session.id, cwd: other, title: "Say hello" }]);
  expect(await client.listSessions({ cwd: "/no/such/folder" })).toEqual({ sessions: [] });
});

it("what was typed, linked, embedded and drawn is the input of the turn", async () => {
  await using desk = await openDesk([say("Seen")]);
  const { client } = await desk.editor();
  const session = await client.session(desk.folder).create();
  const data = Buffer.from("not really a picture").toString("base64");
  const turn = session.prompt([
    { type: "text", text: "Look" },
    { type: "resource_link", uri: "file:///a.ts", name: "a.ts", mimeType: "text/plain" },
    { type: "resource", resource: { uri: "file:///b.ts", text: "let b;" } },
    { type: "image", mimeType: "image/png", data },
  ]);
  await turn.finish();
  const started = (await desk.events(session.id)).find(({ type }) => type === "turn.started");
  expect(started).toMatchObject({
    input: [
      { type: "text", text: "Look" },
      { type: "text", text: "[a.ts: file:///a.ts (text/plain)]" },
      { type: "text", text: '<resource uri="file:///b.ts">\nlet b;\n</resource>' },
      { type: "blob", mediaType: "image/png" },
    ],
  });
  await session.close();
  const loaded = await client.session(desk.folder).load(session.id);
  const shown = loaded.take().flatMap((item) => (item.kind === "update" ? [item.update] : []));
  expect(shown).toContainEqual(expect.objectContaining({ content: { type: "image", mimeType: "image/png", data } }));
});

it.each([
  [{ type: "audio", mimeType: "audio/wav", data: "AA==" }, "audio is not taken"],
  [{ type: "image", mimeType: "text/html", data: "AA==" }, "an image cannot be of the type text/html"],
  [{ type: "image", mimeType: "image/png", data: "" }, "an image has no data"],
  [{ type: "resource", resource: { uri: "x:y" } }, "has neither text nor a blob"],
  [{ type: "hologram" }, "content of the type hologram is not taken"],
  [{ type: "text", text: " " }, "the prompt is empty"],
])("a prompt of %j is refused", async (block, words) => {
  await using desk = await openDesk([]);
  const { client } = await desk.editor();
  const session = await client.session(desk.folder).create();
  const prompt = client.request("session/prompt", { sessionId: session.id, prompt: [block] });
  await expect(prompt).rejects.toMatchObject({
    code: RPC.invalidParams,
    message: expect.stringContaining(words) as string,
  });
});

it("the door's own slash commands are answered without a turn", async () => {
  await using desk = await openDesk([say("Hello", { usage: { input: 12, output: 3 } })]);
  const { client } = await desk.editor();
  const session = await client.session(desk.folder).create();
  await session.prompt("Hi").finish();
  expect(await session.prompt("/status").readText()).toContain(`rookery sessions show ${session.id}`);
  expect(await session.prompt(" /usage\n").readText()).toContain("Tokens in: 12");
  expect((await desk.events(session.id)).filter(({ type }) => type === "turn.started").length).toBe(1);
});

/** As on a machine that has other things to do. */
function readSlowly(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name !== "follow") {
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      }
      return async function* (query: Parameters<Store["follow"]>[0]) {
        for await (const event of target.follow(query)) {
          for (let turns = 0; turns < 50; turns += 1) await new Promise((resolve) => setImmediate(resolve));
          yield event;
        }
      };
    },
  });
}
