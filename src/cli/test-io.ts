/** For tests: calls a command action in this process and collects its output. */
import { Writable } from "node:stream";
import { builtEnvironment } from "../testing/index.ts";
import type { CommandAction, CommandCall } from "./command.ts";
import type { Io } from "./io.ts";

export async function runAction(
  action: CommandAction,
  home: string,
  { args = [], options = {} }: Partial<Pick<CommandCall, "args" | "options">> = {},
): Promise<string> {
  const io = collectingIo(home);
  await action({ io, args, options });
  return io.text();
}

export function collectingIo(home: string): Io & { text(): string } {
  let text = "";
  const stdout = new Writable({
    write(chunk, _, done) {
      text += String(chunk);
      done();
    },
  });
  const env = { ...builtEnvironment({ home }), ROOKERY_HOME: home };
  const io = { env, stdout, stderr: stdout, onOutputClosed: new Set<() => void>(), cwd: () => home, text: () => text };
  return io as unknown as Io & { text(): string };
}
