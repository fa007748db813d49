import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { SessionEvent } from "../src/domain/index.ts";
import { builtEnvironment, temporaryFolder } from "../src/testing/index.ts";

/**
 * A Messages API that shares no code with the scripted server of `rookery/testing`. It follows the public description and
 * behaves differently where that is allowed: no pings, CRLF, arbitrary chunk boundaries, unknown fields.
 */
const CLI = fileURLToPath(new URL("../dist/cli/main.cjs", import.meta.url));

interface Body {
  readonly model: string;
  readonly stream: boolean;
  readonly messages: readonly { role: string; content: string | { type: string; tool_use_id?: string }[] }[];
}

const seen: { path: string | undefined; key: unknown; version: unknown; body: Body }[] = [];

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = "";
  for await (const piece of request.setEncoding("utf8")) text += String(piece);
  const body = JSON.parse(text) as Body;
  const { "x-api-key": key, "anthropic-version": version } = request.headers;
  seen.push({ path: request.url, key, version, body });
  const answered = body.messages.some(({ content }) => Array.isArray(content) && content[0]?.type === "tool_result");
  const bytes = Buffer.from(answered ? spoken("Grüße aus dem Nest 🐦") : asking());
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "x-some-proxy": "yes" });
  for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7));
  response.end();
}

function event(type: string, data: object): string {
  return `event: ${type}\r\ndata: ${JSON.stringify({ type, ...data, unheard_of: { nested: true } })}\r\n\r\n`;
}

function start(): string {
  const message = {
    id: "m-1",
    type: "message",
    role: "assistant",
    model: "some-model",
    content: [],
    stop_reason: null,
  };
  return event("message_start", { message: { ...message, usage: { input_tokens: 11, output_tokens: 1 } } });
}

function end(reason: string): string {
  const delta = { stop_reason: reason, stop_sequence: null };
  return event("message_delta", { delta, usage: { output_tokens: 7 } }) + event("message_stop", {});
}

function spoken(text: string): string {
  const pieces = Array.from(text, (piece) =>
    event("content_block_delta", { index: 0, delta: { type: "text_delta", text: piece } }),
  );
  const opened = event("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
  return start() + opened + pieces.join("") + event("content_block_stop", { index: 0 }) + end("end_turn");
}

function asking(): string {
  const call = { type: "tool_use", id: "call.with:odd/signs", name: "bash", input: {} };
  const json = JSON.stringify({ command: "echo chirp > nest.txt" });
  const pieces = [json.slice(0, 5), json.slice(5)].map((partial_json) =>
    event("content_block_delta", { index: 0, delta: { type: "input_json_delta", partial_json } }),
  );
  const opened = event("content_block_start", { index: 0, content_block: call });
  return start() + opened + pieces.join("") + event("content_block_stop", { index: 0 }) + end("tool_use");
}

it("rookery run works with another Messages API server and prints exactly the events of the log", async () => {
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  await using folder = await temporaryFolder();
  const { port } = server.address() as AddressInfo;
  const extra = { ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`, ANTHROPIC_API_KEY: "fake-key" };
  const options = { cwd: folder.path, env: builtEnvironment({ home: folder.path, extra }), timeout: 20_000 };
  const rookery = async (...args: string[]) =>
    (await promisify(execFile)(process.execPath, [CLI, ...args], options)).stdout;
  try {
    const printed = await rookery(
      "run",
      "Make a nest",
      "--model",
      "anthropic/some-model",
      "--permissions",
      "all",
      "--json",
    );
    const events = printed
      .trimEnd()
      .split("\n")
      .map((line) => SessionEvent.parse(JSON.parse(line)));
    expect(events.at(-1)).toMatchObject({ type: "turn.ended", outcome: { status: "done" } });
    expect(events.find(({ type, seq }) => type === "message.completed" && seq > 8)).toMatchObject({
      text: "Grüße aus dem Nest 🐦",
    });
    expect(readFileSync(join(folder.path, "nest.txt"), "utf8")).toBe("chirp\n");
    expect(await rookery("sessions", "events", events[0]!.sessionId, "--all", "--json")).toBe(printed);
    expect(seen.map(({ path, key, version, body }) => [path, key, version, body.model, body.stream])).toEqual(
      Array(2).fill(["/v1/messages", "fake-key", "2023-06-01", "some-model", true]),
    );
    expect(printed).not.toContain("fake-key");
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
