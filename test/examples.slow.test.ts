import { execFile } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { postgresBinaries } from "../scripts/postgres-cluster.mjs";
import {
  builtEnvironment,
  call,
  say,
  startModelServer,
  temporaryFolder,
  writeAcpAgent,
  type ModelServer,
  type TemporaryFolder,
} from "../src/testing/index.ts";

/** `npm test` runs the same tasks in test/fleet. */
const IS_SLOW_RUN = process.env["ROOKERY_SLOW"] === "1";
const EXAMPLES = fileURLToPath(new URL("../examples/", import.meta.url));

let folder: TemporaryFolder;
let model: ModelServer;
let session: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  model = await startModelServer([
    call("write", { path: "hi.txt", content: "hello" }),
    say("Said hello."),
    say("More."),
  ]);
  session = (await run("prompt.mjs", "Say hello")).trim().split("\n").at(-1)!;
});
afterAll(async () => {
  await model.close();
  await folder[Symbol.asyncDispose]();
});

async function run(name: string, ...args: string[]): Promise<string> {
  return runOn(model, name, ...args);
}

async function runOn({ url }: ModelServer, name: string, ...args: string[]): Promise<string> {
  const extra = { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "fake" };
  const env = builtEnvironment({ home: join(folder.path, "home"), extra });
  const { stdout } = await promisify(execFile)(process.execPath, [join(EXAMPLES, name), ...args], {
    cwd: folder.path,
    env,
    timeout: 170_000,
  });
  return stdout;
}

it("runs every example", () => {
  const tested = readFileSync(fileURLToPath(import.meta.url), "utf8");
  for (const name of readdirSync(EXAMPLES)) expect(tested).toMatch(new RegExp(`run(On)?\\([^)]*"${name}["/]`));
});

it("prompt.mjs runs a turn and answers its permission request", () => {
  expect(readFileSync(join(folder.path, "hi.txt"), "utf8")).toBe("hello");
  expect(session).toMatch(/^ses_/);
});

it("follow.mjs prints the log from the start or from a position", async () => {
  const all = (await run("follow.mjs", session)).trim().split("\n");
  expect(all[0]).toBe("1 session.opened");
  expect(all.at(-1)).toMatch(/turn\.ended$/);
  expect((await run("follow.mjs", session, "3")).trim().split("\n")).toEqual(all.slice(3));
});

it("sessions.mjs lists the session", async () => {
  expect(await run("sessions.mjs")).toContain(`${session}  anthropic  idle  1 turns`);
});

it("resume.mjs continues the session", async () => {
  expect(await run("resume.mjs", session, "more")).toBe("then: done\n");
});

it("testing.mjs runs a test with a scripted model", async () => {
  expect(await run("testing.mjs")).toBe("as scripted\n");
});

it("acp-client.mjs drives an ACP agent", async () => {
  const agent = await writeAcpAgent(folder.path, {
    prompts: [[{ say: "Hi " }, { permission: { echo: false } }, { say: "there" }]],
  });
  expect(await run("acp-client.mjs", "Hello", ...agent.command)).toBe("Hi there\n[end_turn]\n");
});

it("acp-proxy.mjs adds a tool and an instruction to an agent", async () => {
  const calls = [{ callMcp: { server: "clock", tool: "now" } }];
  const agent = await writeAcpAgent(folder.path, { prompts: [{ when: "The clock tool", steps: calls }] }, "proxied");
  const proxied = [process.execPath, join(EXAMPLES, "acp-proxy.mjs"), ...agent.command];
  expect(await run("acp-client.mjs", "What time is it?", ...proxied)).toMatch(/it is 20\d\d-[^]*\[end_turn\]/);
  await expect(run("acp-proxy.mjs")).rejects.toThrow("the agent's command is empty");
});

it("tools.mjs adds a tool and an instruction to a session, and its plugin denies a call", async () => {
  await using own = await startModelServer([
    call("deploy_status", { stage: "staging" }),
    call("bash", { command: "git push" }),
    say("Staging is well."),
  ]);
  expect(await runOn(own, "tools.mjs", "How is staging?")).toBe(
    "ok: staging: deployed, all checks green\n" +
      "denied: pushing is for people; say what you would push\nStaging is well.\n",
  );
  expect(own.requests[0]?.system).toContain("Look at the deployment");
});

it("backend.mjs registers a backend that searches the repository", async () => {
  const git = (...args: string[]) => promisify(execFile)("git", args, { cwd: folder.path });
  await git("init", "--quiet");
  await git("add", "hi.txt");
  expect(await run("backend.mjs", "hello")).toBe('1 lines have "hello".\n');
  expect(await run("backend.mjs", "nowhere")).toBe('0 lines have "nowhere".\n');
});

it("provider.mjs registers a provider that streams from an HTTP server", async () => {
  expect(await run("provider.mjs", "one two three")).toBe("three two one\n");
});

it.runIf(IS_SLOW_RUN)("fleet/run.mjs runs ten tasks on a server and merges them", { timeout: 120_000 }, async () => {
  const said = await run("fleet/run.mjs");
  expect(said).toContain("languages is merged into main (merge)");
  expect(said).toContain("everyone is not merged, as the dry run said: conflicts in hello.mjs");
  expect(said).toMatch(/\n\* Say hello\n$/);
});

it.runIf(IS_SLOW_RUN && postgresBinaries() !== undefined)(
  "cluster/run.mjs reaches the same result on three hosts, although a worker, the database's primary and a server die",
  { timeout: 180_000 },
  async () => {
    const said = await run("cluster/run.mjs");
    expect(said.match(/ACCIDENT: .*/g)).toHaveLength(3);
    const killed = /the worker of host (\w), which works on licence/.exec(said)?.[1] ?? "none";
    expect(said).toContain(`Host ${killed} has a worker again`);
    expect(said).toMatch(/licence +waits again: the process that ran the task died/);
    expect(said).toContain("The standby is the primary now.");
    expect(said).toContain("everyone is not merged, as the dry run said: conflicts in hello.mjs");
    expect(said).toContain("| * Say hello in fr\n");
    expect(said).toMatch(/\n\* Say hello\n$/);
    const hosts = new Set([...said.matchAll(/works on host (\w)/g)].map(([, host]) => host));
    expect(hosts.size).toBeGreaterThan(1);
  },
);
