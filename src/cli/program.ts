/** From what was typed to an exit code. */
import { PROGRAM } from "./commands.ts";
import { EXIT, type ExitCode, report } from "./exit.ts";
import { type Io, print, processIo } from "./io.ts";
import { parseArgs } from "./parse.ts";

/** Never resolves: the process ends when its output is written. */
export async function runProgram(args: readonly string[], version: string): Promise<void> {
  const io = processIo(version);
  const code = await interpret(io, args);
  await new Promise<void>((resolve) => io.stdout.write("", () => resolve()));
  process.exit(io.outputFailed() ? EXIT.failed : code); // a child's pipe or a library's timer must not keep a finished command alive
}

/** Never rejects. */
export async function interpret(io: Io, words: readonly string[]): Promise<ExitCode> {
  try {
    if (words.length === 0) return await (await import("./welcome.ts")).welcome({ io, args: [], options: {} });
    const parsed = parseArgs(PROGRAM, words);
    switch (parsed.wants) {
      case "version":
        await print(io, `${io.version}\n`);
        return EXIT.done;
      case "help":
        await print(io, (await import("./help.ts")).helpText(parsed.path));
        return EXIT.done;
      case "run": {
        const action = await parsed.command.load?.();
        return action === undefined ? EXIT.done : await action({ io, args: parsed.args, options: parsed.options });
      }
    }
  } catch (error) {
    return report(io, error);
  }
}
