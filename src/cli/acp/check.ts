/** `rookery acp check`: runs an agent through the protocol and says what it keeps to. */
import type { Call, Options } from "../command.ts";
import { EXIT, type ExitCode, usage } from "../exit.ts";
import { print, printJson } from "../io.ts";
import { countOption, isSet, textOption } from "../options.ts";
import { watchInterrupts } from "../run/interrupts.ts";
import { ownPrograms } from "./owned.ts";

export async function check({ io, args, options }: Call): Promise<ExitCode> {
  const command = args.filter((word) => word !== undefined);
  const { checkAgent, reportText } = await import("../../acp/devtools/check/index.ts");
  const only = idsOf(textOption(options, "only"));
  const timeout = countOption(options, "timeout", 1);
  await using programs = await ownPrograms(io);
  using interrupts = watchInterrupts(io);
  const { cwd, env, marker = "" } = programs.command(command);
  try {
    const report = await checkAgent(
      { command, cwd, env, marker },
      {
        signal: interrupts.signal,
        ...(only !== undefined && { only }),
        ...(timeout !== undefined && { timeoutMs: timeout * 1_000 }),
        ...texts(options, ["prompt", "slowPrompt", "authenticate"]),
      },
    );
    if (isSet(options, "json")) await printJson(io, report);
    else await print(io, reportText(report));
    return report.ok ? EXIT.done : EXIT.failed;
  } catch (error) {
    if (interrupts.signal.aborted) return EXIT.cancelled;
    if (error instanceof RangeError) throw usage(error.message);
    throw error;
  }
}

function texts(options: Options, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = textOption(options, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** `1,5,9` */
function idsOf(text: string | undefined): number[] | undefined {
  if (text === undefined) return undefined;
  const ids = text.split(",").map((id) => (/^\s*\d{1,4}\s*$/.test(id) ? Number(id) : NaN));
  if (ids.some(Number.isNaN)) throw usage(`--only takes numbers of checks, such as 1,5,9, not "${text}"`);
  return ids;
}
