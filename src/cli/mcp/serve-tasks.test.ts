// own process: its commands replace process.stdout.write
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, expect, it } from "vitest";
import { call, say } from "../../testing/index.ts";
import { BUILT_COMMAND, openCommandFixture, type CommandFixture } from "../test-command.ts";

let fixture: CommandFixture;
afterEach(() => fixture[Symbol.asyncDispose]());

it("runs, answers and merges the tasks of an MCP client on stdio, and ends with its input", async () => {
  fixture = await openCommandFixture([call("write", { path: "a.txt", content: "made\n" }), say("Done.")]);
  const client = new Client({ name: "test", version: "1" });
  const args = [BUILT_COMMAND, "mcp", "serve", "--tasks", "--allow-answers"];
  const { env, repository } = fixture;
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, cwd: repository.path, env: { ...env } }),
  );
  const use = async (name: string, input: object): Promise<Record<string, unknown>> =>
    ((await client.callTool({ name, arguments: { ...input } })) as CallToolResult).structuredContent ?? {};
  let { cursor } = await use("start_task", { prompt: "go", id: "t", permissions: "ask" });
  const follow = async (): Promise<unknown> => {
    const followed = await use("follow_task", { id: "t", cursor, wait_seconds: 20 });
    cursor = followed["cursor"];
    return followed["status"];
  };
  let status = await follow();
  while (status !== "waiting") status = await follow();
  await use("answer_task", { id: "t", request_id: "r1", answer: "allow" });
  while (status !== "done") status = await follow();
  expect(await use("merge_task", { id: "t" })).toMatchObject({ outcome: "merged" });
  expect(await repository.read("a.txt")).toBe("made\n");
  await client.close();
});

it.each([
  [["--allow-answers"], "--allow-answers needs --tasks"],
  [["--tasks", "--permissions", "all"], "--permissions has no effect with --tasks"],
])("refuses %j", async (options, message) => {
  fixture = await openCommandFixture();
  const { code, stderr } = await fixture.rookery(["mcp", "serve", ...options], { input: "" });
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) as string });
});
