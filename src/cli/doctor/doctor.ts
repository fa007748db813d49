/** `rookery doctor`: looks at everything Rookery needs, and says what to do about what is not well. */
import type { Call } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { hasColour, print, printJson } from "../io.ts";
import { isSet } from "../options.ts";
import { type Colour, coloured, plain } from "../paint.ts";
import { oneLine } from "../printable.ts";
import { CHECKS, type Finding } from "./checks.ts";

export async function doctor({ io, options }: Call): Promise<ExitCode> {
  if (isSet(options, "repair")) return (await import("./repair.ts")).repairLog(io, { json: isSet(options, "json") });
  const findings: Finding[] = [];
  for (const check of CHECKS) findings.push(...(await check(io)));
  const well = findings.every(({ status }) => status !== "problem");
  const paint = hasColour(io) ? coloured : plain;
  if (isSet(options, "json")) await printJson(io, { ok: well, findings });
  else {
    for (const { status, subject, detail, advice } of findings) {
      const what = `${paint(COLOURS[status], status.padEnd(7))}  ${subject.padEnd(9)}  ${oneLine(detail)}`;
      await print(io, `${what}${advice === undefined ? "" : `\n         → ${oneLine(advice)}`}\n`);
    }
  }
  return well ? EXIT.done : EXIT.failed;
}

const COLOURS: Record<Finding["status"], Colour> = { ok: "green", warning: "yellow", problem: "red" };
