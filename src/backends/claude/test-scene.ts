/** Test fixture: a session whose agent is the scripted program `test-claude.mjs`. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BackendContext, PermissionPolicy, SessionEvent } from "../../domain/index.ts";
import { createSession, reopenSession, type PrepareAgent } from "../../session/index.ts";
import { DisposeStack, systemClock } from "../../stdx/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import { builtEnvironment, temporaryFolder } from "../../testing/index.ts";
import { claudeBackend } from "./index.ts";

const PROGRAM = fileURLToPath(new URL("test-claude.mjs", import.meta.url));

export type Step =
  | { readonly send: object }
  | { readonly print: string }
  | { readonly stderr: string }
  | { readonly exit: number }
  /** Closes stdout and keeps running. */
  | { readonly mute: true }
  /** Waits for a record of this type, or a request of this subtype. */
  | { readonly wait: string }
  /** Does not answer the handshake. */
  | { readonly silent: true };

export interface SceneOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly context?: Partial<BackendContext>;
  readonly permissions?: PermissionPolicy;
  readonly raw?: boolean;
  /** Files written to the session's folder before the program starts. */
  readonly files?: Readonly<Record<string, string>>;
}

export async function openScene(steps: readonly Step[], options: SceneOptions = {}) {
  const owned = new DisposeStack();
  const home = owned.use(await temporaryFolder());
  const cwd = owned.use(await temporaryFolder());
  const store = owned.use(openMemoryStore());
  const [script, notes] = [join(home.path, "steps.json"), join(home.path, "heard.ndjson")];
  await writeFile(script, JSON.stringify(steps));
  await writeFile(notes, "");
  for (const [name, text] of Object.entries(options.files ?? {})) await writeFile(join(cwd.path, name), text);
  const { permissions = "ask" } = options;
  const env = { ...builtEnvironment({ home: home.path }), ...options.env };
  const command = [process.execPath, PROGRAM, script, notes];
  const prepare: PrepareAgent = (state) =>
    Promise.resolve({
      settings: { agent: "a", backend: "claude-code", model: undefined, cwd: cwd.path, permissions },
      connect: () =>
        claudeBackend({ env, raw: options.raw }).open({
          sessionId: state.id,
          agent: { name: "a", backend: "claude-code", model: undefined, permissions, prompts: [], command },
          cwd: cwd.path,
          nativeId: state.nativeId,
          marker: "none",
          permissions,
          ...options.context,
        }),
    });
  const around = { store, clock: systemClock, owner: `${process.pid}.0.claude`, attended: true };
  return {
    open: async () => owned.use(await createSession(around, {}, prepare)),
    reopen: async (id: string) => owned.use(await reopenSession(around, id, {}, prepare)),
    events: async (id: string): Promise<readonly SessionEvent[]> =>
      (await store.read({ sessionId: id, limit: 1_000 })).events,
    /** Everything that the program received. The first entry is how it was started. */
    heard: async () =>
      (await readFile(notes, "utf8"))
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as Heard),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

export interface Heard {
  readonly type: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly servers?: { readonly file: string; readonly config: unknown };
  readonly request?: { readonly subtype: string; readonly hooks?: unknown };
  readonly response?: unknown;
  readonly message?: unknown;
}

export const text = (words: string) => ({
  send: { type: "assistant", message: { content: [{ type: "text", text: words }] }, parent_tool_use_id: null },
});
export const delta = (words: string) => ({
  send: {
    type: "stream_event",
    event: { type: "content_block_delta", delta: { type: "text_delta", text: words } },
    parent_tool_use_id: null,
  },
});
export const result = (more: object = {}) => ({
  send: { type: "result", subtype: "success", is_error: false, ...more },
});
export const prompt: Step = { wait: "user" };
