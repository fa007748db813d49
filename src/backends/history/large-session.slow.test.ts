// own process: measures memory
import { createWriteStream } from "node:fs";
import { mkdir, truncate, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../testing/index.ts";
import { claudeHistory } from "../claude/history.ts";

const ID = "3548c3f5-00de-4863-9891-c43eea7bf751";
const TURNS = 256;
const RESULT_BYTES = 1024 * 1024;
/** The file has 256 MB. The largest records are 1 MB, and a few are in memory at once. */
const MAX_GROWTH_BYTES = 128 * 1024 * 1024;

/** Writes a session of turns with one large tool result each. */
async function writeLargeSession(path: string): Promise<void> {
  const file = createWriteStream(path);
  const text = "x".repeat(RESULT_BYTES);
  let parentUuid: string | null = null;
  const write = async (uuid: string, type: string, content: unknown, more: object = {}): Promise<void> => {
    const record = { uuid, parentUuid, type, cwd: "/work", message: { content, ...more } };
    parentUuid = uuid;
    if (!file.write(`${JSON.stringify(record)}\n`)) await once(file, "drain");
  };
  for (let turn = 0; turn < TURNS; turn += 1) {
    const id = `call-${turn}`;
    await write(`${turn}-prompt`, "user", `prompt ${turn}`);
    await write(`${turn}-call`, "assistant", [{ type: "tool_use", id, name: "Bash", input: { command: "ls" } }]);
    await write(`${turn}-result`, "user", [{ type: "tool_result", tool_use_id: id, content: text }]);
    await write(`${turn}-answer`, "assistant", [{ type: "text", text: "done" }], { stop_reason: "end_turn" });
  }
  file.end();
  await once(file, "finish");
}

async function openHome() {
  const home = await temporaryFolder();
  const folder = join(home.path, ".claude", "projects", "-work");
  await mkdir(folder, { recursive: true });
  return {
    env: { HOME: home.path },
    path: join(folder, `${ID}.jsonl`),
    [Symbol.asyncDispose]: home[Symbol.asyncDispose],
  };
}

it("reads a session of 256 MB in bounded memory", async () => {
  await using home = await openHome();
  await writeLargeSession(home.path);
  const before = process.memoryUsage().rss;
  let peak = before;
  let turns = 0;
  await using conversation = await claudeHistory.open(home.env, ID);
  for await (const { body } of conversation.read(() => Promise.resolve(""))) {
    if (body.type !== "turn.ended") continue;
    turns += 1;
    peak = Math.max(peak, process.memoryUsage().rss);
  }
  expect(turns).toBe(TURNS);
  expect(peak - before).toBeLessThan(MAX_GROWTH_BYTES);
});

it("refuses a file of more than 1 GB, without reading it", async () => {
  await using home = await openHome();
  await writeFile(home.path, "");
  await truncate(home.path, 1024 ** 3 + 1);
  await expect(claudeHistory.open(home.env, ID)).rejects.toMatchObject({ code: "native_session_unreadable" });
});
