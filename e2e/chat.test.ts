/** One story in `rookery chat`, on a pseudo-terminal, with the built-in agent and with each real program. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { createContractFolders } from "../src/backends/contract/folders.ts";
import { GREETING, modelScript, PROMPTS, TEXT } from "../src/backends/contract/index.ts";
import { DisposeStack } from "../src/stdx/index.ts";
import { builtEnvironment, startModelServer } from "../src/testing/index.ts";
import { type ProgramScreen, startOnScreen } from "../test/support/screen.ts";
import { programs, type ProgramRecipe } from "./programs/index.mjs";

const COMMAND = fileURLToPath(new URL("../dist/cli/main.cjs", import.meta.url));

const builtIn: ProgramRecipe = {
  name: "built-in agent",
  version: "",
  backend: "api",
  prepare: ({ home, modelUrl }) =>
    Promise.resolve({
      toml: 'backend = "api"\nmodel = "anthropic/claude-sonnet-5"',
      env: builtEnvironment({ home, extra: { ANTHROPIC_API_KEY: "fake", ANTHROPIC_BASE_URL: modelUrl } }),
    }),
  permissionCall: ({ file }) => ({ name: "bash", input: { command: `touch '${file}'` } }),
  writeCall: ({ file, text }) => ({ name: "write", input: { path: file, content: text } }),
  mcpCall: ({ server, tool, input }) => ({ name: `${server}__${tool}`, input }),
};

const REASON = "Keep the directory clean.";
/** Programs whose protocol passes the reason for a denial to the model. */
const PASSES_REASONS = new Set(["built-in agent", "claude"]);

async function openChatScene(recipe: ProgramRecipe) {
  await using opening = new DisposeStack();
  const place = opening.use(await createContractFolders());
  const model = opening.use(await startModelServer(modelScript(recipe, place.files)));
  const { env, toml } = await recipe.prepare({ ...place, modelUrl: model.url });
  const folder = join(env["XDG_CONFIG_HOME"] ?? "", "rookery");
  await mkdir(folder, { recursive: true });
  const other = '[agents.echo]\nbackend = "command"\ncommand = ["sh", "-c", "echo the other agent"]\n';
  await writeFile(join(folder, "rookery.toml"), `[defaults]\nagent = "it"\n[agents.it]\n${toml}\n${other}`);
  const git = (...args: string[]) => promisify(execFile)("git", args, { cwd: place.cwd, env });
  await git("init", "--quiet", "--initial-branch=main");
  await writeFile(join(place.cwd, "README.md"), "# A project\n");
  await git("add", ".");
  await git("-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "--quiet", "-m", "first");
  const owned = opening.move();
  return {
    files: place.files,
    model,
    chat: (...args: string[]): ProgramScreen =>
      owned.use(
        startOnScreen([process.execPath, COMMAND, "chat", ...args], {
          cwd: place.cwd,
          env: { ...env, TERM: "xterm-256color" },
          columns: 100,
          rows: 40,
          waitMs: 60_000,
        }),
      ),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** Sends a prompt and waits until its turn has ended. Returns everything on the screen. */
async function send(screen: ProgramScreen, text: string): Promise<string> {
  const ends = countEnds(screen);
  submit(screen, text);
  return waitForEnd(screen, ends + 1);
}

function submit(screen: ProgramScreen, text: string): void {
  screen.type(text);
  screen.press("enter");
}

const waitForEnd = (screen: ProgramScreen, ends: number): Promise<string> =>
  screen.waitFor(new RegExp(`(?:^(?:done|cancelled|failed) ·[^]*){${ends}}`, "m"), { scrollback: true });

const countEnds = (screen: ProgramScreen): number => screen.all().match(/^(?:done|cancelled|failed) ·/gm)?.length ?? 0;

const STORIES = [builtIn, ...Object.values(programs)].map((recipe) => [recipe.name, recipe] as const);

it.each(STORIES)("talks with %s: edit, undo, denial, steering, interrupt, switch, kill", async (_, recipe) => {
  await using scene = await openChatScene(recipe);
  const chat = scene.chat();
  await chat.waitFor("❯");
  expect(await send(chat, PROMPTS.hello)).toContain(GREETING);

  // An edit is shown before it is allowed.
  submit(chat, PROMPTS.write);
  const asked = await chat.waitFor("Allow");
  for (const line of TEXT.trimEnd().split("\n")) expect(asked).toContain(line);
  expect(existsSync(scene.files.written)).toBe(false);
  chat.type("y");
  await waitForEnd(chat, 2);
  expect(readFileSync(scene.files.written, "utf8")).toBe(TEXT);

  // What the turn changed is taken back.
  submit(chat, "/undo");
  await chat.waitFor(/written\.txt[^]*\[y\/n\]/);
  chat.type("y");
  await expect.poll(() => existsSync(scene.files.written)).toBe(false);

  // A denial with a reason, which is typed in place of a key.
  submit(chat, PROMPTS.permission);
  await chat.waitFor("Allow");
  submit(chat, REASON);
  await waitForEnd(chat, 3);
  expect(existsSync(scene.files.made)).toBe(false);
  if (PASSES_REASONS.has(recipe.name)) expect(JSON.stringify(scene.model.requests)).toContain(REASON);

  // opencode ends a turn at a denial, and tells the model of it with the next prompt.
  await send(chat, PROMPTS.hello);

  // A message while the agent works, and an interrupt.
  submit(chat, PROMPTS.wait);
  await chat.waitFor(/writing \d+s · Esc interrupts/);
  submit(chat, PROMPTS.again);
  await chat.waitFor(PROMPTS.again);
  chat.press("escape"); // the message that the agent does not have yet returns to the input
  await chat.waitFor(new RegExp(`^cancelled ·[^]*❯ ${PROMPTS.again}`, "m"));
  chat.press("enter");
  await waitForEnd(chat, 6);

  // Another agent goes on with the conversation, and the first one comes back.
  submit(chat, "/agent echo");
  await chat.waitFor(/^echo ·/m);
  expect(await send(chat, "What now?")).toContain("the other agent");
  submit(chat, "/agent it");
  await chat.waitFor(/^it ·/m);

  // Killed in the middle of a turn: the built-in agent continues it, a program has lost it.
  submit(chat, PROMPTS.wait);
  await chat.waitFor(/writing \d+s · Esc interrupts/);
  chat.kill("SIGKILL");
  await chat.exited;
  const next = scene.chat("-c");
  await next.waitFor(PROMPTS.hello, { scrollback: true });
  if (recipe === builtIn) {
    await next.waitFor(/ing \d+s · Esc interrupts/);
    next.press("escape");
  }
  await waitForEnd(next, 8);
  expect(await send(next, PROMPTS.again)).toContain(GREETING);
  next.press("ctrl-d");
  expect(await next.exited).toBe(0);
});
