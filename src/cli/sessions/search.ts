/** `rookery search`: finds words in the logs of all sessions. */
import { shortId } from "../../domain/ids.ts";
import type { SearchCursor, SearchMatch } from "../../session/search.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { formatAge } from "../format.ts";
import { printJson, printText } from "../io.ts";
import { openLog } from "../log.ts";
import { countOption, isSet } from "../options.ts";
import { watchInterrupts } from "../run/interrupts.ts";
import { toSingleLine } from "../sanitize.ts";

const DEFAULT_LIMIT = 20;

export async function searchCommand({ io, args, options }: CommandCall): Promise<ExitCode> {
  const limit = countOption(options, "limit", 1) ?? DEFAULT_LIMIT;
  const json = isSet(options, "json");
  await using rookery = await openLog(io);
  using interrupts = watchInterrupts(io);
  let found = 0;
  let cursor: SearchCursor | undefined;
  do {
    const { matches, next } = await rookery.search(args.join(" "), { cursor, limit: limit - found });
    if (interrupts.signal.aborted) return EXIT.cancelled;
    for (const match of matches) await (json ? printJson(io, match) : printText(io, formatMatch(match)));
    found += matches.length;
    cursor = next;
  } while (cursor !== undefined && found < limit);
  if (found === 0 && !json) await printText(io, "no event of a session has all of these words\n");
  return EXIT.done;
}

function formatMatch({ sessionId, seq, at, type, title, excerpt }: SearchMatch): string {
  const place = `${shortId(sessionId)} ${seq}  ${formatAge(at, Date.now())}  ${type}`;
  return `${place}${title === undefined ? "" : `  ${toSingleLine(title).slice(0, 80)}`}\n    ${toSingleLine(excerpt)}\n`;
}
