/** Runs a command line and turns its result into an exit code. */
import { PROGRAM } from "./commands.ts";
import { EXIT, type ExitCode, reportError } from "./exit.ts";
import type { CommandSpec } from "./command.ts";
import { canChat, hasColor, type Io, print, processIo, terminalWidth } from "./io.ts";
import { ansiPaint, plainPaint } from "./paint.ts";
import { parseArgs } from "./parse.ts";

/** Never resolves: exits the process after the output is written. */
export async function runCommandLine(args: readonly string[], version: string): Promise<void> {
  const io = processIo(version);
  const code = await executeCommand(io, args);
  await new Promise<void>((resolve) => io.stdout.write("", () => resolve()));
  process.exit(io.outputFailed() ? EXIT.failed : code); // an open pipe or timer must not keep a finished command alive
}

/** Never rejects. */
export async function executeCommand(io: Io, words: readonly string[]): Promise<ExitCode> {
  try {
    if (words.length === 0 && !canChat(io)) {
      return await (await import("./welcome.ts")).welcomeCommand({ io, args: [], options: {} });
    }
    const parsed = parseArgs(PROGRAM, words);
    switch (parsed.kind) {
      case "version":
        await print(io, `${io.version}\n`);
        return EXIT.done;
      case "help":
        await printHelp(io, parsed.path);
        return EXIT.done;
      case "run": {
        const action = await parsed.command.load?.();
        return action === undefined ? EXIT.done : await action({ io, args: parsed.args, options: parsed.options });
      }
    }
  } catch (error) {
    return reportError(io, error);
  }
}

async function printHelp(io: Io, path: readonly CommandSpec[]): Promise<void> {
  const { formatHelp } = await import("./help.ts");
  const paint = hasColor(io) ? ansiPaint : plainPaint;
  await print(io, formatHelp(path, { width: terminalWidth(io.stdout), paint }));
}
