/** Test fixture: a home in which programs keep sessions, and agents that are scripted stand-ins for these programs. */
import { mkdir, readFile, realpath, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SessionEvent } from "../domain/index.ts";
import { Rookery } from "../rookery.ts";
import { DisposeStack } from "../stdx/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { builtEnvironment, temporaryFolder } from "../testing/index.ts";

const RECORDED = fileURLToPath(new URL("../../test/support/native/", import.meta.url));
const CLAUDE = fileURLToPath(new URL("../backends/claude/test-claude.mjs", import.meta.url));

/** The ID of the recorded Claude Code session. */
export const CLAUDE_ID = "3548c3f5-00de-4863-9891-c43eea7bf751";

/** The ID of the recorded Codex session. */
export const CODEX_ID = "01a1f040-b9f2-7d80-8c3d-688b2fb1eaba";

/** The ID of the recorded Gemini CLI session. */
export const GEMINI_ID = "4560a05b-994f-4818-a29d-cf9ba6039198";

/** Steps of a stand-in for Claude Code that answers one prompt. */
export const CLAUDE_ANSWERS = [
  { wait: "user" },
  { send: { type: "assistant", message: { content: [{ type: "text", text: "Again." }] }, parent_tool_use_id: null } },
  { send: { type: "result", subtype: "success", is_error: false } },
];

export async function openNativeScene() {
  await using opening = new DisposeStack();
  const root = await realpath(opening.use(await temporaryFolder()).path);
  const [home, cwd] = [join(root, "home"), join(root, "work")];
  await mkdir(home);
  await mkdir(cwd);
  const [steps, notes] = [join(root, "steps.json"), join(root, "heard.ndjson")];
  await writeFile(steps, JSON.stringify(CLAUDE_ANSWERS));
  const env = builtEnvironment({ home, extra: { ANTHROPIC_API_KEY: "fake" } });
  const config = join(env["XDG_CONFIG_HOME"] ?? "", "rookery", "rookery.toml");
  await writeDeep(
    config,
    `[agents.claude]\ncommand = ${JSON.stringify([process.execPath, CLAUDE, steps, notes])}\n[agents.other]\nbackend = "acp"\ncommand = ["other"]\n[agents.echo]\nbackend = "command"\ncommand = ["false"]\n`,
  );
  const store = opening.use(openMemoryStore());
  const rookery = opening.use(await Rookery.open({ env, cwd, store }));
  const owned = opening.move();
  const claudeFile = (id = CLAUDE_ID, folder = cwd): string =>
    join(home, ".claude", "projects", folder.replaceAll(/[^a-zA-Z0-9]/g, "-"), `${id}.jsonl`);
  return {
    home,
    cwd,
    env,
    /** Changes what the stand-in for Claude Code does when it is started again. */
    script: (next: readonly object[]) => writeFile(steps, JSON.stringify(next)),
    store,
    rookery,
    claudeFile,
    /** Writes the recorded session of Claude Code. `change` may damage it. */
    async keepClaudeSession(change: (text: string) => string | Buffer = (text) => text, id = CLAUDE_ID) {
      await writeDeep(claudeFile(id), change(await readRecordedSession("claude", cwd)));
    },
    /** Writes the recorded session of Codex. */
    async keepCodexSession(change: (text: string) => string = (text) => text) {
      const path = join(
        home,
        ".codex",
        "sessions",
        "2026",
        "11",
        "18",
        `rollout-2026-11-18T20-02-16-${CODEX_ID}.jsonl`,
      );
      await writeDeep(path, change(await readRecordedSession("codex", cwd)));
    },
    /** Writes the recorded session of Gemini CLI. */
    async keepGeminiSession(change: (text: string) => string = (text) => text, name = "2026-11-18T20-02") {
      const folder = join(home, ".gemini", "tmp", "work");
      await writeDeep(join(folder, ".project_root"), cwd);
      const path = join(folder, "chats", `session-${name}-${GEMINI_ID.slice(0, 8)}.jsonl`);
      await writeDeep(path, change(await readRecordedSession("gemini", cwd)));
    },
    events: async (sessionId: string): Promise<readonly SessionEvent[]> =>
      (await store.read({ sessionId, limit: 10_000 })).events,
    /** What the stand-in for Claude Code received. The first entry is how it was started. */
    heard: async (): Promise<
      readonly { readonly type: string; readonly args?: string[]; readonly message?: unknown }[]
    > =>
      (await readFile(notes, "utf8"))
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as { type: string }),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

export type NativeScene = Awaited<ReturnType<typeof openNativeScene>>;

export async function readRecordedSession(program: string, cwd: string): Promise<string> {
  return (await readFile(join(RECORDED, `${program}.jsonl`), "utf8")).replaceAll("/scene/work", cwd);
}

export async function writeDeep(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}
