import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { openSqliteStore } from "../../store/index.ts";
import { deferred } from "../../stdx/index.ts";
import { builtEnvironment, call, say, startModelServer, temporaryFolder, transcript } from "../../testing/index.ts";
import { getPrompt, lastToolText } from "./test-scene.ts";

const CLI = fileURLToPath(new URL("../../../dist/cli/main.cjs", import.meta.url));
const tasks = ["quick", "slow", "late"].map((prompt) => ({ prompt, title: prompt }));

it("after SIGKILL, repeats no finished request and starts no child twice", async () => {
  const killed = deferred();
  let alive = true;
  await using server = await startModelServer(async (request) => {
    const prompt = getPrompt(request);
    if (prompt === "go") return request.toolResults.length === 0 ? call("delegate", { tasks }) : say("Heard.");
    if (prompt === "slow" && request.toolResults.length === 0) return call("bash", { command: "echo slow >> ran" });
    if (prompt !== "quick" && alive) await killed.promise; // the first process never gets a reply
    return say(`${prompt} is done`);
  });
  await using home = await temporaryFolder();
  await using cwd = await temporaryFolder();
  const extra = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: "fake" };
  const env = builtEnvironment({ home: home.path, extra });
  const start = (...args: string[]) => spawn(process.execPath, [CLI, ...args], { cwd: cwd.path, env, stdio: "ignore" });
  const path = join(env["ROOKERY_HOME"]!, "rookery.db");

  const first = start("run", "go", "--permissions", "all");
  const died = once(first, "exit");
  await server.received(4); // the parent, the three children, and the slow one's second request
  await using store = await openSqliteStore({ path });
  const parent = (await store.list()).find(({ depth }) => depth === undefined)!.id;
  for await (const event of store.follow({ sessionId: parent, after: 0 })) if (event.type === "subagent.ended") break;
  first.kill("SIGKILL");
  await died;
  alive = false;
  killed.resolve();

  const before = server.requests.length;
  const second = start("run", "--session", parent);
  expect(await once(second, "exit")).toEqual([0, null]);
  const { events } = await store.read({ sessionId: parent, limit: 1_000 });
  expect(lastToolText(events)).toMatch(/^3 of 3 sub-agents completed/);
  const lines = transcript(events).filter((line) => line.startsWith("subagent "));
  expect(lines.sort()).toEqual(["done", "done", "done", "late", "quick", "slow"].map((word) => `subagent ${word}`));
  expect(await store.list({ parent })).toHaveLength(3);
  const again = server.requests.slice(before).map(getPrompt);
  expect(again.sort()).toEqual(["go", "late", "slow"]); // only requests without a reply are repeated
});
