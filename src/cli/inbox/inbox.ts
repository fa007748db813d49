/** `rookery inbox`: lists everything that waits for an answer, over all sessions and tasks. */
import { listWaitingRequests } from "../../session/waiting-requests.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { formatCount } from "../format.ts";
import { print, printJson, withCommandPrefix } from "../io.ts";
import { openLog } from "../log.ts";
import { isSet } from "../options.ts";
import { formatWaiting } from "./format-waiting.ts";

/** More do not fit on a screen; --json prints all. */
const MAX_SHOWN = 50;

export async function inboxCommand({ io, options }: CommandCall): Promise<ExitCode> {
  await using rookery = await openLog(io);
  const requests = await listWaitingRequests(rookery.store);
  if (isSet(options, "json")) {
    for (const request of requests) await printJson(io, request);
    return EXIT.done;
  }
  if (requests.length === 0) {
    await print(io, "nothing waits for an answer\n");
    return EXIT.done;
  }
  const now = Date.now();
  const shown = requests.slice(0, MAX_SHOWN).map((request) => formatWaiting(request, now, requests.length === 1));
  const left = requests.length - shown.length;
  const more = left === 0 ? "" : `\n… and ${formatCount(left)} more: rookery inbox --json\n`;
  await print(io, withCommandPrefix(io, `${shown.join("\n")}${more}`));
  return EXIT.done;
}
