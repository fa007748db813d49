/** `rookery acp check`: checks whether an agent conforms to the protocol. */
import type { CommandCall, OptionValues } from "../command.ts";
import { EXIT, type ExitCode, usageError } from "../exit.ts";
import { print, printJson } from "../io.ts";
import { countOption, isSet, textOption } from "../options.ts";
import { watchInterrupts } from "../run/interrupts.ts";
import { openOwnedPrograms } from "./owned-programs.ts";

export async function checkCommand({ io, args, options }: CommandCall): Promise<ExitCode> {
  const command = args.filter((word) => word !== undefined);
  const { checkAgent, reportText } = await import("../../acp/devtools/check/index.ts");
  const only = parseCheckIds(textOption(options, "only"));
  const timeout = countOption(options, "timeout", 1);
  await using programs = await openOwnedPrograms(io);
  using interrupts = watchInterrupts(io);
  const { cwd, env, marker = "" } = programs.command(command);
  try {
    const report = await checkAgent(
      { command, cwd, env, marker },
      {
        signal: interrupts.signal,
        ...(only !== undefined && { only }),
        ...(timeout !== undefined && { timeoutMs: timeout * 1_000 }),
        ...textOptions(options, ["prompt", "slowPrompt", "authenticate"]),
      },
    );
    if (isSet(options, "json")) await printJson(io, report);
    else await print(io, reportText(report));
    return report.ok ? EXIT.done : EXIT.failed;
  } catch (error) {
    if (interrupts.signal.aborted) return EXIT.cancelled;
    if (error instanceof RangeError) throw usageError(error.message);
    throw error;
  }
}

function textOptions(options: OptionValues, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = textOption(options, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Parses `1,5,9`. Throws `usage`. */
function parseCheckIds(text: string | undefined): number[] | undefined {
  if (text === undefined) return undefined;
  const ids = text.split(",").map((id) => (/^\s*\d{1,4}\s*$/.test(id) ? Number(id) : NaN));
  if (ids.some(Number.isNaN)) throw usageError(`--only must be check numbers such as 1,5,9, not "${text}"`);
  return ids;
}
