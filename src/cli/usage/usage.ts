/** `rookery usage`: prints tokens and cost of all sessions by agent and model. */
import type { Usage } from "../../domain/usage.ts";
import { sumUsage, unpricedTokens, type PricedUsage } from "../../session/usage.ts";
import { systemClock } from "../../stdx/clock.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { hasColor, print, printJson, printText, terminalWidth } from "../io.ts";
import { openRookeryAnywhere } from "../open-anywhere.ts";
import { isSet, textOption } from "../options.ts";
import { ansiPaint, plainPaint } from "../paint.ts";
import { groupByAgent } from "./by-agent.ts";
import { parseSince } from "./since.ts";
import { formatUsageNotes, formatUsageTable } from "./table.ts";

export async function usageCommand({ io, options }: CommandCall): Promise<ExitCode> {
  const said = textOption(options, "since");
  const since = said === undefined ? undefined : parseSince(said, systemClock.now());
  await using rookery = await openRookeryAnywhere(io);
  const agent = textOption(options, "agent");
  const sums = groupByAgent(await sumUsage(rookery.store, { by: ["agent", "model"], agent, since }));
  if (isSet(options, "json")) {
    for (const { agent: name, models, ...usage } of sums) {
      const each = models.map(({ model, ...used }) => ({ model, ...toJson(used) }));
      await printJson(io, { agent: name, ...toJson(usage), models: each });
    }
  } else if (sums.length === 0) {
    await printText(io, 'no usage was reported yet; start a session: rookery run "PROMPT"\n');
  } else {
    const paint = hasColor(io) ? ansiPaint : plainPaint;
    await print(io, formatUsageTable(sums, { width: terminalWidth(io.stdout), paint }));
    await printText(io, formatUsageNotes(sums));
  }
  return EXIT.done;
}

/** `knownCostUsd` and `unpricedTokens` are only present if a part of the cost is unknown. */
function toJson(usage: PricedUsage): Usage & { readonly knownCostUsd?: number | undefined } {
  const { all, priced } = usage;
  if (all.costUsd !== undefined) return all;
  return { ...all, knownCostUsd: priced.costUsd, ...{ unpricedTokens: unpricedTokens(usage) } };
}
