/** `rookery search`: finds words in the logs of all sessions. */
import type { SearchCursor } from "../../session/search.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { hasColor, print, printJson, printText, terminalWidth } from "../io.ts";
import { openRookeryAnywhere } from "../open-anywhere.ts";
import { countOption, isSet } from "../options.ts";
import { watchInterrupts } from "../run/interrupts.ts";
import { ansiPaint, plainPaint } from "../paint.ts";
import { formatMatches } from "./format-match.ts";

const DEFAULT_LIMIT = 20;

export async function searchCommand({ io, args, options }: CommandCall): Promise<ExitCode> {
  const limit = countOption(options, "limit", 1) ?? DEFAULT_LIMIT;
  const json = isSet(options, "json");
  await using rookery = await openRookeryAnywhere(io);
  using interrupts = watchInterrupts(io);
  const text = args.join(" ");
  const style = { width: terminalWidth(io.stdout), paint: hasColor(io) ? ansiPaint : plainPaint };
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  let above: string | undefined;
  let cursor: SearchCursor | undefined;
  do {
    const { matches, next } = await rookery.search(text, { cursor, limit: limit - found });
    if (interrupts.signal.aborted) return EXIT.cancelled;
    if (json) for (const match of matches) await printJson(io, match);
    else await print(io, formatMatches(matches, above, { ...style, words, now: Date.now() }));
    above = matches.at(-1)?.sessionId ?? above;
    found += matches.length;
    cursor = next;
  } while (cursor !== undefined && found < limit);
  if (found === 0 && !json) await printText(io, "no session has an event with all of these words\n");
  return EXIT.done;
}
