import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openScene } from "./test-scene.ts";

/** A `command` agent that writes its arguments to a file, each on its own line. */
const writer = (...words: string[]): string =>
  `[agents.writer]\nbackend = "command"\ncommand = ${JSON.stringify(["sh", "-c", 'printf "%s\\n" "$@" > args.txt', "sh", ...words])}\n`;

const TASK_WORDS = ["{task}", "{branch}", "{base}", "--in={worktree}", "http://localhost:{port}"];

it("fills the placeholders of a task in the arguments of its agent, with a port of its own", async () => {
  await using s = await openScene({ toml: writer(...TASK_WORDS, "{prompt}") });
  s.run();
  await s.tasks.start({ id: "one", prompt: "say {task}", agent: "writer" });
  await s.tasks.start({ id: "two", prompt: "go", agent: "writer" });
  const views = [await s.until("one", "done"), await s.until("two", "done")];
  const [first, second] = await Promise.all(
    views.map(async ({ worktree }) => (await readFile(join(worktree?.path ?? "", "args.txt"), "utf8")).split("\n")),
  );
  const path = join(s.repository.path, ".rookery/worktrees/one");
  const port = views[0]?.worktree?.port;
  expect(port).toBeGreaterThan(1_023);
  expect(first).toEqual(["one", "rookery/one", "main", `--in=${path}`, `http://localhost:${port}`, "say {task}", ""]);
  expect(second?.[4]).not.toBe(first?.[4]);
});

it("passes words in braces that are no placeholders", async () => {
  const words = ["${HOME}", "{{json}}", "{ print }", "{}", '{"a":1}', "{a,b}"];
  await using s = await openScene({ toml: writer(...words) });
  await using session = await s.rookery.openSession({ agent: "writer" });
  await session.prompt("go").outcome;
  expect(await s.repository.read("args.txt")).toBe(`${words.join("\n")}\n`);
});

it.each([
  ["{tsak}", "the unknown placeholder {tsak}: use one of {prompt}, "],
  ["{task}", "uses {task}, but this session does not belong to a task"],
  ["{port}", "uses {port}, but this session does not belong to a task"],
])("refuses a session whose agent has the argument %s", async (word, message) => {
  await using s = await openScene({ toml: writer(word), env: { ROOKERY_TASK: "outer", ROOKERY_PORT: "1" } });
  await expect(s.rookery.openSession({ agent: "writer" })).rejects.toMatchObject({
    code: "config_invalid",
    message: expect.stringContaining(message) as string,
  });
});

it.each([
  ["the arguments of its agent", writer("{port}"), "writer"],
  ["the prompt of a stage", '[pipelines.p]\nstages = [{ agent = "robin", prompt = "on {port}" }]\n', undefined],
])("fails a task without a port if %s need one", async (_, toml, agent) => {
  await using s = await openScene({ toml: `${toml}[worktree]\nport = false\n` });
  s.run();
  await s.tasks.start({ id: "t", prompt: "go", ...(agent === undefined ? { pipeline: "p" } : { agent }) });
  const { message } = await s.until("t", "failed");
  expect(message).toContain("{port}, but the task has no port");
});

it("fills the placeholders of a task in the prompt of a stage, and leaves other words in braces", async () => {
  const prompt = "run: echo {task} {branch} {worktree} {port} {other} > args.txt";
  await using s = await openScene({
    toml: `[pipelines.p]\nstages = [{ agent = "robin", prompt = ${JSON.stringify(prompt)} }]\n`,
  });
  s.run();
  await s.tasks.start({ id: "t", prompt: "go", pipeline: "p" });
  const { worktree } = await s.until("t", "done");
  const written = await readFile(join(worktree?.path ?? "", "args.txt"), "utf8");
  expect(written).toBe(`t rookery/t ${worktree?.path} ${worktree?.port} {other}\n`);
});
