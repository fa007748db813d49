import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { RPC } from "../../acp/errors.ts";
import type { Store } from "../../domain/index.ts";
import { call, calls, fault, say } from "../../testing/index.ts";
import { selectOption, formatUpdates, openAcpScene, isUpdateOfKind, receivedUpdates } from "./test-scene.ts";

describe("a session", () => {
  it("is replayed completely before the load response, as it was shown live", async () => {
    await using scene = await openAcpScene([
      call("write", { path: "a.txt", content: "one\n" }, { thinking: "Hm.", text: ["Wri", "ting."] }),
      say("Done."),
      calls([
        { name: "read", input: { path: "a.txt" } },
        { name: "bash", input: { command: "exit 3" } },
      ]),
      say("Read."),
    ]);
    const first = await scene.editor({ serve: { permission: () => selectOption("allow") } });
    const session = await first.client.session(scene.folder).create();
    await session.prompt("Write it").finish();
    await session.prompt([{ type: "text", text: "And read" }]).finish();
    const live = formatUpdates(
      receivedUpdates(first, session.id).filter(({ sessionUpdate }) => sessionUpdate !== "session_info_update"),
    );
    await session.close();

    const second = await scene.editor();
    const loaded = await second.client.session(scene.folder).load(session.id);
    const answered = second.wire.findIndex(({ direction, message }) => direction === "in" && message.id === 2);
    await second.waitForMessage(isUpdateOfKind("available_commands_update"));
    const before = formatUpdates(receivedUpdates({ wire: second.wire.slice(0, answered) }, session.id));
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
    const after = formatUpdates(receivedUpdates({ wire: second.wire.slice(answered) }, session.id));
    expect([after, loaded.response.modes]).toEqual([["available_commands_update"], session.response.modes]);
  });

  it("accepts prompts after a resume without a replay", async () => {
    await using scene = await openAcpScene([say("one"), say("two")]);
    const first = await scene.editor();
    const session = await first.client.session(scene.folder).create();
    await session.prompt("1").finish();
    await first[Symbol.asyncDispose]();
    const second = await scene.editor();
    const resumed = await second.client.session(scene.folder).resume(session.id);
    expect(await resumed.prompt("2").readText()).toBe("two");
    expect(formatUpdates(receivedUpdates(second, session.id))).toEqual([
      "available_commands_update",
      "says two",
      "usage_update",
    ]);
    expect(JSON.stringify(scene.model.requests.at(-1)?.messages)).toContain("one");
  });

  it("rejects prompts after close until it is loaded again", async () => {
    await using scene = await openAcpScene([say("one"), say("two")]);
    const { client } = await scene.editor();
    const session = await client.session(scene.folder).create();
    await session.prompt("1").finish();
    await session.close();
    const prompt = client.request("session/prompt", { sessionId: session.id, prompt: [{ type: "text", text: "2" }] });
    await expect(prompt).rejects.toMatchObject({ code: RPC.notFound });
    const again = await client.session(scene.folder).load(session.id);
    expect(await again.prompt("2").readText()).toContain("two");
  });

  it("cancels its running prompt before the close response", async () => {
    await using scene = await openAcpScene([say(Array<string>(500).fill("x "), { chunkDelayMs: 20 })]);
    const { client, wire, waitForMessage } = await scene.editor();
    const session = await client.session(scene.folder).create();
    const turn = session.prompt("1");
    await waitForMessage(isUpdateOfKind("agent_message_chunk"));
    await session.close();
    expect(await turn.stopReason).toBe("cancelled");
    expect(wire.filter(({ message }) => "result" in message).map(({ message }) => message.result)).toMatchObject([
      {},
      {},
      { stopReason: "cancelled" },
      {},
    ]);
  });

  it("is released when it is closed before its prompt starts", async () => {
    await using scene = await openAcpScene([say("one"), say("two")]);
    const { client } = await scene.editor();
    const { id: sessionId } = await client.session(scene.folder).create();
    await client.request("session/close", { sessionId });
    await client.request("session/resume", { sessionId, cwd: scene.folder });
    const prompt = client.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "1" }] });
    const close = client.request("session/close", { sessionId });
    expect(await Promise.all([prompt, close])).toEqual([{ stopReason: "cancelled" }, {}]);
    await using elsewhere = await scene.open();
    const again = await elsewhere.openSession({ id: sessionId });
    expect(await again.prompt("2").outcome).toMatchObject({ status: "done" });
    await again[Symbol.asyncDispose]();
  });

  it("sends all updates before the prompt response, even if the log is slow", async () => {
    await using scene = await openAcpScene([say(["a", "b", "c"]), say("d")]);
    const { client, wire } = await scene.editor({ store: readSlowly(scene.store) });
    const session = await client.session(scene.folder).create();
    expect(await session.prompt("1").readText()).toBe("abc");
    const { id } = wire.at(-1)?.message ?? {};
    expect([id, await session.prompt("2").readText()]).toEqual([3, "d"]);
  });

  it("is gone after deletion", async () => {
    await using scene = await openAcpScene([say("one")]);
    const { client } = await scene.editor();
    const session = await client.session(scene.folder).create();
    await session.prompt("1").finish();
    await client.deleteSession(session.id);
    expect(await client.listSessions()).toEqual({ sessions: [] });
    const load = client.request("session/load", { sessionId: session.id, cwd: scene.folder, mcpServers: [] });
    await expect(load).rejects.toMatchObject({ code: RPC.notFound });
    await expect(client.deleteSession(session.id)).rejects.toMatchObject({ code: RPC.notFound });
  });

  it("can be watched while another process drives it, and rejects prompts with session_in_use", async () => {
    await using scene = await openAcpScene([say("one"), say(["tw", "o"])]);
    await using elsewhere = await scene.open();
    const session = await elsewhere.openSession({ cwd: scene.folder });
    await session.prompt("1").outcome;
    const editor = await scene.editor();
    const watched = await editor.client.session(scene.folder).load(session.id);
    const turn = session.prompt("2");
    await editor.waitForMessage(({ params }) => JSON.stringify(params ?? "").includes('"tw'));
    await turn.outcome;
    await expect(watched.prompt("3").finish()).rejects.toMatchObject({
      message: expect.stringContaining("is in use by process") as string,
      data: { code: "session_in_use" },
    });
    const expected = [
      "user 1",
      "says one",
      "usage_update",
      "available_commands_update",
      "user 2",
      "says two",
      "usage_update",
    ];
    await vi.waitFor(() => expect(formatUpdates(receivedUpdates(editor, session.id))).toEqual(expected)); // it reads the log
    await session[Symbol.asyncDispose]();
  });
});

it("rejects a new session in an untrusted folder with the command to trust it", async () => {
  await using scene = await openAcpScene([]);
  await mkdir(join(scene.folder, ".git"));
  await writeFile(join(scene.folder, ".git", "HEAD"), "");
  await writeFile(join(scene.folder, "rookery.toml"), "[defaults]\nagent = 'anthropic'\n");
  const { client } = await scene.editor();
  await expect(client.session(scene.folder).create()).rejects.toMatchObject({
    message: expect.stringContaining("rookery trust") as string,
    data: { code: "not_trusted" },
  });
});

it.each([
  ["a missing folder", "session/new", { cwd: "/no/such/folder", mcpServers: [] }, RPC.invalidParams],
  ["a missing session", "session/load", { sessionId: "ses_x", cwd: "/", mcpServers: [] }, RPC.notFound],
  ["a session that is not open", "session/prompt", { sessionId: "ses_x", prompt: [] }, RPC.notFound],
  ["a missing session", "session/close", { sessionId: "ses_x" }, RPC.notFound],
  ["an invalid cursor", "session/list", { cursor: "7" }, RPC.invalidParams],
  ["a login", "authenticate", { methodId: "x" }, RPC.invalidParams],
  ["a logout", "logout", {}, RPC.methodNotFound],
])("rejects %s in %s", async (_, method, params, code) => {
  await using scene = await openAcpScene([]);
  const { client } = await scene.editor();
  await expect(client.request(method, params)).rejects.toMatchObject({ code });
});

it.each([
  ["the token limit", say("So far", { stopReason: "max_tokens" }), "max_tokens"],
  ["a refusal", say("I", { stopReason: "refusal" }), "refusal"],
])("reports %s as the stop reason", async (_, reply, stopReason) => {
  await using scene = await openAcpScene([reply]);
  const { client } = await scene.editor();
  const session = await client.session(scene.folder).create();
  expect(await session.prompt("1").finish()).toMatchObject({ stopReason });
});

it.each([
  ["a wrong key", fault(401), RPC.authRequired, "provider_auth"],
  ["an unknown model", fault(404), RPC.internalError, "model_not_found"],
])("fails only the prompt whose turn fails with %s", async (_, broken, code, own) => {
  await using scene = await openAcpScene([broken, say("well")]);
  const { client } = await scene.editor();
  const session = await client.session(scene.folder).create();
  await expect(session.prompt("1").finish()).rejects.toMatchObject({ code, data: { code: own } });
  expect(await session.prompt("2").readText()).toBe("well");
});

it("runs several sessions at once, each with its own updates", async () => {
  await using scene = await openAcpScene(({ lastUserText }) => say(`${lastUserText}!`));
  const { client } = await scene.editor();
  const names = ["a", "b", "c", "d"];
  const sessions = await Promise.all(names.map(() => client.session(scene.folder).create()));
  const texts = await Promise.all(sessions.map((session, index) => session.prompt(names[index] ?? "").readText()));
  expect(texts).toEqual(["a!", "b!", "c!", "d!"]);
});

it("lists sessions by folder, newest first, in pages", async () => {
  await using scene = await openAcpScene([say("Hello")]);
  const { client, rookery } = await scene.editor();
  const other = join(scene.folder, "other");
  await mkdir(other);
  const made: string[] = [];
  for (let count = 0; count < 120; count += 1) {
    const session = await rookery.openSession({ cwd: scene.folder });
    made.unshift(session.id);
    await session[Symbol.asyncDispose]();
  }
  const session = await client.session(other).create();
  await session.prompt("Say hello\nplease").finish();
  const pages: string[][] = [];
  for (let cursor: string | undefined; ;) {
    const page = await client.listSessions({ cwd: scene.folder, ...(cursor !== undefined && { cursor }) });
    pages.push(page.sessions.map(({ sessionId }) => sessionId));
    cursor = page.nextCursor ?? undefined;
    if (cursor === undefined) break;
  }
  expect([pages.length, pages.flat()]).toEqual([3, made]);
  const { sessions } = await client.listSessions({ cwd: other });
  expect(sessions).toMatchObject([{ sessionId: session.id, cwd: other, title: "Say hello" }]);
  expect(await client.listSessions({ cwd: "/no/such/folder" })).toEqual({ sessions: [] });
});

it("converts text, links, resources and images to the input of the turn", async () => {
  await using scene = await openAcpScene([say("Seen")]);
  const { client } = await scene.editor();
  const session = await client.session(scene.folder).create();
  const data = Buffer.from("not really a picture").toString("base64");
  const turn = session.prompt([
    { type: "text", text: "Look" },
    { type: "resource_link", uri: "file:///a.ts", name: "a.ts", mimeType: "text/plain" },
    { type: "resource", resource: { uri: "file:///b.ts", text: "let b;" } },
    { type: "image", mimeType: "image/png", data },
  ]);
  await turn.finish();
  const started = (await scene.events(session.id)).find(({ type }) => type === "turn.started");
  expect(started).toMatchObject({
    input: [
      { type: "text", text: "Look" },
      { type: "text", text: "[a.ts: file:///a.ts (text/plain)]" },
      { type: "text", text: '<resource uri="file:///b.ts">\nlet b;\n</resource>' },
      { type: "blob", mediaType: "image/png" },
    ],
  });
  await session.close();
  const loaded = await client.session(scene.folder).load(session.id);
  const shown = loaded.take().flatMap((item) => (item.kind === "update" ? [item.update] : []));
  expect(shown).toContainEqual(expect.objectContaining({ content: { type: "image", mimeType: "image/png", data } }));
});

it.each([
  [{ type: "audio", mimeType: "audio/wav", data: "AA==" }, "audio is not supported"],
  [{ type: "image", mimeType: "text/html", data: "AA==" }, "unsupported image type text/html"],
  [{ type: "image", mimeType: "image/png", data: "" }, "the image data is empty"],
  [{ type: "resource", resource: { uri: "x:y" } }, "has neither text nor a blob"],
  [{ type: "hologram" }, "unsupported content type hologram"],
  [{ type: "text", text: " " }, "the prompt is empty"],
])("rejects a prompt of %j", async (block, words) => {
  await using scene = await openAcpScene([]);
  const { client } = await scene.editor();
  const session = await client.session(scene.folder).create();
  const prompt = client.request("session/prompt", { sessionId: session.id, prompt: [block] });
  await expect(prompt).rejects.toMatchObject({
    code: RPC.invalidParams,
    message: expect.stringContaining(words) as string,
  });
});

it("answers built-in slash commands without a turn", async () => {
  await using scene = await openAcpScene([say("Hello", { usage: { input: 12, output: 3 } })]);
  const { client } = await scene.editor();
  const session = await client.session(scene.folder).create();
  await session.prompt("Hi").finish();
  expect(await session.prompt("/status").readText()).toContain(`rookery sessions show ${session.id}`);
  expect(await session.prompt(" /usage\n").readText()).toContain("Input tokens: 12");
  expect((await scene.events(session.id)).filter(({ type }) => type === "turn.started").length).toBe(1);
});

/** Delays every event, as on a busy machine. */
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
