/** `rookery inbox`: lists everything that waits for an answer, over all sessions and tasks. */
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { formatCount } from "../format.ts";
import { hasColor, print, printJson, terminalWidth, withCommandPrefix } from "../io.ts";
import { isSet } from "../options.ts";
import { ansiPaint, plainPaint } from "../paint.ts";
import { wrapText } from "../wrap.ts";
import { formatWaiting } from "./format-waiting.ts";
import { openWaitingSource } from "./waiting-source.ts";

/** More do not fit on a screen; --json prints all. */
const MAX_SHOWN = 50;

export async function inboxCommand({ io, options }: CommandCall): Promise<ExitCode> {
  await using source = await openWaitingSource(io, options);
  const requests = await source.list();
  if (isSet(options, "json")) {
    for (const request of requests) await printJson(io, request);
    return EXIT.done;
  }
  if (requests.length === 0) {
    await print(io, "nothing is waiting for an answer\n");
    return EXIT.done;
  }
  const now = Date.now();
  const paint = hasColor(io) ? ansiPaint : plainPaint;
  const first = await Promise.all(requests.slice(0, MAX_SHOWN).map((request) => source.shorten(request)));
  const shown = first.map((request) => formatWaiting(request, { now, paint, all: requests }));
  const left = requests.length - shown.length;
  const more = left === 0 ? "" : `\n… and ${formatCount(left)} more: rookery inbox --json\n`;
  const text = withCommandPrefix(io, `${shown.join("\n")}${more}`);
  await print(io, wrapText(text, { width: terminalWidth(io.stdout) }));
  return EXIT.done;
}
