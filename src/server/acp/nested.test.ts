import { afterAll, beforeAll, expect, it } from "vitest";
import { transportPair } from "../../acp/index.ts";
import { call, say } from "../../testing/index.ts";
import { serveAcpClient } from "./agent-server.ts";
import { openAcpScene, type Message } from "./test-scene.ts";

const IS_SLOW_RUN = process.env["ROOKERY_SLOW"] === "1";
const DEPTHS = IS_SLOW_RUN ? [600, 1_500, 4_000, 50_000, 2_500_000] : [1_500, 50_000];

const unhandled: unknown[] = [];
const recordRejection = (reason: unknown) => void unhandled.push(reason);
beforeAll(() => void process.on("unhandledRejection", recordRejection));
afterAll(() => void process.off("unhandledRejection", recordRejection));

it.each(DEPTHS)(
  "responds to an editor that sends JSON with %d levels in any field, and runs its next prompt",
  { timeout: 180_000 },
  async (depth) => {
    const deep = "[".repeat(depth) + "]".repeat(depth);
    await using scene = await openAcpScene(({ lastUserText, toolResults }) =>
      lastUserText === "ask" && toolResults.length === 0 ? call("bash", { command: "true" }) : say("Hello."),
    );
    await using rookery = await scene.open();
    const [near, far] = transportPair();
    const server = serveAcpClient({ rookery, transport: far, env: scene.env, version: "0", cwd: scene.folder });
    const waiting = new Map<number, (message: Message) => void>();
    let answerPermission = (_: unknown): void => undefined;
    near.start({
      line: (line: string) => {
        const message = JSON.parse(line) as Message;
        if (message.method === "session/request_permission") answerPermission(message.id);
        else if (message.method === undefined) waiting.get(message.id as number)?.(message);
      },
      ended: () => undefined,
      drained: () => undefined,
      writeFailed: () => undefined,
      oversize: () => undefined,
    });
    let last = 0;
    const write = (message: object) =>
      void near.write(`${JSON.stringify({ jsonrpc: "2.0", ...message }).replaceAll('"DEEP"', () => deep)}\n`);
    const request = (method: string, params: object | string) => {
      const id = ++last;
      const answered = new Promise<Message>((resolve) => waiting.set(id, resolve));
      write({ id, method, params });
      return answered;
    };
    const info = { protocolVersion: 1, clientCapabilities: {} };
    await request("initialize", { ...info, _meta: { a: "DEEP" } });
    const folder = { cwd: scene.folder, mcpServers: [] };
    const created = await request("session/new", { ...folder, _meta: { a: "DEEP" } });
    const opened = created.error === undefined ? created : await request("session/new", folder);
    const { sessionId } = opened.result as { sessionId: string };
    const text = { type: "text", text: "hi" };
    const requests: readonly [string, object | string][] = [
      ["session/new", { ...folder, mcpServers: "DEEP" }],
      ["session/new", { ...folder, mcpServers: [{ name: "a", command: "true", args: "DEEP", env: "DEEP" }] }],
      ["session/load", { ...folder, sessionId: "DEEP" }],
      ["session/prompt", { sessionId, prompt: "DEEP" }],
      ["session/prompt", { sessionId, prompt: ["DEEP"] }],
      ["session/prompt", { sessionId, prompt: [{ type: "resource", resource: "DEEP" }] }],
      ["session/prompt", { sessionId, prompt: [{ ...text, annotations: "DEEP", _meta: { a: "DEEP" } }] }],
      ["session/set_mode", { sessionId, modeId: "DEEP" }],
      ["session/set_config_option", { sessionId, configId: "DEEP", value: "DEEP" }],
      ["session/list", { cursor: "DEEP" }],
      ["session/fork", { ...folder, sessionId, _meta: { a: "DEEP" } }],
      ["unknown", { a: "DEEP" }],
      ["unknown", "DEEP"],
    ];
    for (const [method, params] of requests) expect(await request(method, params)).toHaveProperty("id");
    write({ method: "session/cancel", params: { sessionId: "DEEP" } });
    write({ method: "unknown", params: "DEEP" });
    write({ id: 9_999, result: "DEEP" });
    const answers = [
      { result: "DEEP" },
      { result: { outcome: "DEEP" } },
      { error: { code: 1, message: "m", data: "DEEP" } },
    ];
    for (const answer of answers) {
      answerPermission = (id) => write({ id: id as number, ...answer });
      expect(await request("session/prompt", { sessionId, prompt: [{ type: "text", text: "ask" }] })).toHaveProperty(
        "id",
      );
    }
    const { result } = await request("session/prompt", { sessionId, prompt: [text] });
    expect(result).toMatchObject({ stopReason: "end_turn" });
    expect(unhandled.splice(0)).toEqual([]);
    await server.close();
    await server.ended;
  },
);
