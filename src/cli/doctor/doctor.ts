/** `rookery doctor`: checks everything Rookery needs and prints how to fix each problem. */
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { hasColor, printJson, printText } from "../io.ts";
import { isSet } from "../options.ts";
import { type Color, ansiPaint, plainPaint } from "../paint.ts";
import { toSingleLine } from "../sanitize.ts";
import { CHECKS } from "./checks.ts";
import type { Finding } from "./finding.ts";

export async function doctorCommand({ io, options }: CommandCall): Promise<ExitCode> {
  if (isSet(options, "repair")) return (await import("./repair.ts")).repairLog(io, { json: isSet(options, "json") });
  const findings: Finding[] = [];
  for (const check of CHECKS) findings.push(...(await check(io)));
  const well = findings.every(({ status }) => status !== "problem");
  const paint = hasColor(io) ? ansiPaint : plainPaint;
  if (isSet(options, "json")) await printJson(io, { ok: well, findings });
  else {
    for (const { status, subject, detail, advice } of findings) {
      const what = `${paint(FINDING_COLORS[status], status.padEnd(7))}  ${subject.padEnd(9)}  ${toSingleLine(detail)}`;
      await printText(io, `${what}\n`, DETAIL_INDENT);
      if (advice !== undefined) await printText(io, `         → ${toSingleLine(advice)}\n`);
    }
  }
  return well ? EXIT.done : EXIT.failed;
}

/** Below the details of the other findings. */
const DETAIL_INDENT = " ".repeat(20);
const FINDING_COLORS: Record<Finding["status"], Color> = { ok: "green", warning: "yellow", problem: "red" };
