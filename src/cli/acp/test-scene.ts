/** For tests: an ACP client of the built command, with a scripted model. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { connectClient, startAgent, type AgentProcess, type ClientOptions } from "../../acp/index.ts";
import { recorder, type Editor } from "../../server/acp/test-scene.ts";
import { DisposeStack } from "../../stdx/index.ts";
import type { ModelServerOptions, Script } from "../../testing/index.ts";
import { linkCodeCache, BUILT_COMMAND, openCommandFixture, type CommandFixture } from "../test-command.ts";

export interface CommandEditor extends Editor {
  readonly agent: AgentProcess;
}

export interface EditorOptions extends Pick<ClientOptions, "serve" | "capabilities"> {
  /** Arguments of the command. Default: `acp`. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A started command with raw streams. */
export interface RawCommand extends AsyncDisposable {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
}

export async function openEditorScene(
  script: Script,
  options: ModelServerOptions & { files?: Record<string, string> } = {},
) {
  await using opening = new DisposeStack();
  const fixture = opening.use(await openCommandFixture(script, options));
  const owned = opening.move();
  return {
    fixture,
    cwd: fixture.repository.path,
    editor: async (wanted: EditorOptions = {}): Promise<CommandEditor> => owned.use(await openEditor(fixture, wanted)),
    raw: (wanted: Pick<EditorOptions, "args" | "env"> = {}): RawCommand => owned.use(openRaw(fixture, wanted)),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

async function openEditor(
  fixture: CommandFixture,
  { args = ["acp"], env, ...client }: EditorOptions,
): Promise<CommandEditor> {
  await using opening = new DisposeStack();
  linkCodeCache(join(fixture.home, ".rookery"));
  const command = [process.execPath, BUILT_COMMAND, ...args];
  const agent = opening.use(
    await startAgent({ command, cwd: fixture.repository.path, env: { ...fixture.env, ...env } }),
  );
  const { recorded, wire, came } = recorder();
  const connected = opening.use(
    await connectClient({ transport: agent.transport, exit: () => agent.exit(), trace: recorded, ...client }),
  );
  const owned = opening.move();
  return { client: connected, agent, wire, came, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}

function openRaw(fixture: CommandFixture, { args = ["acp"], env }: Pick<EditorOptions, "args" | "env">): RawCommand {
  linkCodeCache(join(fixture.home, ".rookery"));
  const child = spawn(process.execPath, [BUILT_COMMAND, ...args], {
    cwd: fixture.repository.path,
    env: { ...fixture.env, ...env },
    stdio: "pipe",
  });
  child.stdin.on("error", () => undefined); // the process may exit before it reads everything
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    const decoder = new StringDecoder("utf8"); // setEncoding would change the stream for other readers
    child[name].on("data", (bytes: Buffer) => (said[name] += decoder.write(bytes)));
  }
  const ended = new Promise<Awaited<RawCommand["ended"]>>((resolve) =>
    child.once("close", (code) => resolve({ code, ...said })),
  );
  return {
    child,
    ended,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
