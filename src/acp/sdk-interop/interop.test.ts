import { describe, expect, it } from "vitest";
import { ConnectionClosed, PeerError, type ClientTurn, type SessionItem, type schema } from "../index.ts";
import { CARRIERS, openScene } from "./test-sdk-agent.ts";

describe.each(CARRIERS)("our client and an agent of the official SDK, %s,", (carrier) => {
  it("initialize each other", async () => {
    await using scene = await openScene(carrier, { serve: { readTextFile: () => ({ content: "" }) } });
    expect(scene.client.agent.agentInfo).toEqual({ name: "sdk-agent", version: "2.4.0" });
    expect(scene.client.capabilities.sessionCapabilities).toHaveProperty("resume");
    const session = await scene.client.session(scene.folder).create();
    const seen = JSON.parse(await session.prompt("capabilities").readText()) as schema.ClientCapabilities;
    expect(seen.fs).toEqual({ readTextFile: true, writeTextFile: false });
    expect(seen.terminal).toBe(false);
  });

  it("authenticate and log out", async () => {
    await using scene = await openScene(carrier, { locked: true });
    const { client, folder } = scene;
    await expect(client.session(folder).create()).rejects.toMatchObject({ code: -32000, data: { methods: ["token"] } });
    await expect(client.authenticate("password")).rejects.toMatchObject({ code: -32602 });
    await client.authenticate(client.authMethods[0]!.id);
    expect((await client.session(folder).create()).id).toBe("session-1");
    await client.logout();
    await expect(client.session(folder).create()).rejects.toBeInstanceOf(PeerError);
  });

  it("start a session with MCP servers, additional directories and metadata", async () => {
    await using scene = await openScene(carrier);
    const server = { name: "files", command: "/bin/true", args: ["-v"], env: [{ name: "A", value: "b" }] };
    const session = await scene.client
      .session(scene.folder)
      .mcpServer(server)
      .directories("/srv/shared")
      .meta({ from: "a test" })
      .create();
    expect(session.response._meta).toEqual({ mcpServers: [server] });
    expect(session.response.modes?.currentModeId).toBe("ask");
    const { sessions } = await scene.client.listSessions();
    expect(sessions).toMatchObject([{ sessionId: session.id, additionalDirectories: ["/srv/shared"] }]);
  });

  it("exchange every content type", async () => {
    await using scene = await openScene(carrier);
    const session = await scene.client.session(scene.folder).create();
    const turn = session.prompt([
      { type: "text", text: "look at " },
      { type: "image", data: "aGk=", mimeType: "image/png" },
      { type: "audio", data: "aGk=", mimeType: "audio/wav" },
      { type: "resource_link", uri: "file:///a", name: "a" },
      { type: "resource", resource: { uri: "file:///b", text: "b" } },
    ]);
    expect(await turn.readText()).toBe("look at [image][audio][resource_link][resource]");
    expect(await turn.stopReason).toBe("end_turn");
  });

  it("pass every kind of update on, in order and complete", async () => {
    await using scene = await openScene(carrier);
    const session = await scene.client.session(scene.folder).create();
    const updates = await updatesOf(session.prompt("every-update"));
    expect(updates.map(({ sessionUpdate }) => sessionUpdate)).toEqual([
      "user_message_chunk",
      "agent_thought_chunk",
      "agent_message_chunk",
      "plan",
      "tool_call",
      "tool_call_update",
      "available_commands_update",
      "current_mode_update",
      "config_option_update",
      "session_info_update",
      "usage_update",
      "notice",
      "compaction_update",
      "compaction_summary_chunk",
    ]);
    expect(updates[4]).toMatchObject({ toolCallId: "t1", kind: "edit", rawInput: { a: 1 } });
    expect(updates[5]).toMatchObject({ content: [{ type: "diff", oldText: "a", newText: "b" }] });
  });

  it("change the mode and the options of a session", async () => {
    await using scene = await openScene(carrier);
    const session = await scene.client.session(scene.folder).create();
    await session.setMode("code");
    expect(session.take().map(sketch)).toEqual(["between current_mode_update"]);
    await session.setConfigOption("model", "large");
    const { configOptions } = await session.setConfigOption("verbose", true);
    expect(configOptions.map(({ id, currentValue }) => [id, currentValue])).toEqual([
      ["model", "large"],
      ["verbose", true],
    ]);
  });

  it("replay a loaded session before the answer, and a resumed one not at all", async () => {
    await using scene = await openScene(carrier);
    const { client, folder } = scene;
    const first = await client.session(folder).create();
    await first.prompt("hello").finish();
    await first[Symbol.asyncDispose]();

    const loaded = await client.session(folder).load(first.id);
    expect(loaded.take().map(sketch)).toEqual(["replay user_message_chunk", "replay agent_message_chunk"]);
    expect(loaded.response.modes?.availableModes).toHaveLength(2);
    await loaded[Symbol.asyncDispose]();

    const resumed = await client.session(folder).resume(first.id);
    expect(await resumed.prompt("again").readText()).toBe("again");
    expect(resumed.take()).toEqual([]);
  });

  it("list, close and delete sessions", async () => {
    await using scene = await openScene(carrier);
    const { client, folder } = scene;
    const [one, two] = [await client.session(folder).create(), await client.session("/").create()];
    const listed = async (params: schema.ListSessionsRequest) =>
      (await client.listSessions(params)).sessions.map(({ sessionId }) => sessionId);
    expect(await listed({})).toEqual([one.id, two.id]);
    expect(await listed({ cwd: folder })).toEqual([one.id]);
    await two.close();
    await client.deleteSession(two.id);
    await expect(client.deleteSession(two.id)).rejects.toMatchObject({ code: -32002, data: { sessionId: two.id } });
    await expect(client.session("/").load(two.id)).rejects.toMatchObject({ code: -32002 });
    expect(await listed({})).toEqual([one.id]);
  });

  it("cancel a turn and run the next one completely", async () => {
    await using scene = await openScene(carrier);
    const session = await scene.client.session(scene.folder).create();
    const turn = session.prompt("wait");
    for await (const item of turn) if (item.kind === "update") await turn.cancel();
    expect(await turn.stopReason).toBe("cancelled");
    expect(await session.prompt("go on").readText()).toBe("go on");
  });

  it("close a session during a turn", async () => {
    await using scene = await openScene(carrier);
    const session = await scene.client.session(scene.folder).create();
    const turn = session.prompt("wait");
    for await (const item of turn) if (item.kind === "update") break;
    await session.close();
    expect(await turn.stopReason).toBe("cancelled");
    expect(() => session.prompt("more")).toThrow(/was closed or disposed/);
  });

  it("fail a turn and continue with the next", async () => {
    await using scene = await openScene(carrier);
    const session = await scene.client.session(scene.folder).create();
    const failed = session.prompt("fail").readText();
    await expect(failed).rejects.toMatchObject({ message: "the model is not reachable", data: { status: 503 } });
    expect(await session.prompt("again").readText()).toBe("again");
  });
});

it("reports the signal and the stderr of an SDK agent that is killed during a turn", async () => {
  await using scene = await openScene("as a process");
  const session = await scene.client.session(scene.folder).create();
  const failure = await session
    .prompt("die")
    .finish()
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ConnectionClosed);
  expect((failure as ConnectionClosed).exit).toEqual({
    exitCode: null,
    signal: "SIGKILL",
    stderr: "sdk-agent is up\n",
  });
});

async function updatesOf(turn: ClientTurn): Promise<schema.SessionUpdate[]> {
  const updates: schema.SessionUpdate[] = [];
  for await (const item of turn) if (item.kind === "update") updates.push(item.update);
  return updates;
}

function sketch(item: SessionItem): string {
  return item.kind === "update" ? `${item.when} ${item.update.sessionUpdate}` : item.kind;
}
