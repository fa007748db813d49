/** For tests: a repository, a scripted model, an agent that is a shell, and servers that end with the test. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Script } from "../../../testing/index.ts";
import {
  type CommandFixture,
  type CommandResult,
  openCommandFixture,
  type RunningCommand,
} from "../../test-command.ts";

/** An agent that runs the last line of its prompt in a shell. */
const SHELL_AGENT = `
[defaults]
agent = "anthropic"
[agents.shell]
backend = "command"
command = ["sh", "-c", "eval \\"$(printf %s \\"$0\\" | tail -n 1)\\"", "{prompt}"]
permissions = "all"
`;

export interface CockpitFixture extends AsyncDisposable {
  readonly command: CommandFixture;
  /** Starts a server, and resolves when it listens. */
  serve(): Promise<RunningCommand>;
  start(id: string, prompt: string, ...more: string[]): Promise<CommandResult>;
  /** Starts a task that runs a command line. */
  shell(id: string, command: string, ...more: string[]): Promise<CommandResult>;
}

export async function openCockpitFixture(script: Script = []): Promise<CockpitFixture> {
  const command = await openCommandFixture(script, { files: { "a.txt": "one\n" } });
  const folder = join(command.home, ".config", "rookery");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "rookery.toml"), SHELL_AGENT);
  const servers: RunningCommand[] = [];
  const start: CockpitFixture["start"] = (id, prompt, ...more) =>
    command.rookery(["task", "start", prompt, "--id", id, ...more]);
  return {
    command,
    start,
    shell: (id, line, ...more) => start(id, line, "--agent", "shell", ...more),
    async serve() {
      const server = command.start(["serve", "--port", "0"]);
      servers.push(server);
      await server.waitForOutput(/Ctrl-C stops the server/);
      return server;
    },
    async [Symbol.asyncDispose]() {
      for (const { child } of servers) child.kill("SIGCONT"); // a test may have stopped it
      for (const { child } of servers) child.kill("SIGTERM");
      for (const { ended } of servers) await ended;
      await command[Symbol.asyncDispose]();
    },
  };
}
