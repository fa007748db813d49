/** `rookery usage`: prints tokens and cost of all sessions by agent and model. */
import type { Usage } from "../../domain/usage.ts";
import { systemClock } from "../../stdx/clock.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { formatColumns, formatCount } from "../format.ts";
import { withCommandPrefix, print, printJson } from "../io.ts";
import { openLog } from "../log.ts";
import { isSet, textOption } from "../options.ts";
import { toSingleLine } from "../sanitize.ts";
import { formatUsageCost } from "../transcript/turn-view.ts";
import { parseSince } from "./since.ts";
import { sumUsage, totalUsage, type AgentUsage } from "./sum.ts";

export async function usageCommand({ io, options }: CommandCall): Promise<ExitCode> {
  const said = textOption(options, "since");
  const since = said === undefined ? undefined : parseSince(said, systemClock.now());
  await using rookery = await openLog(io);
  const sums = await sumUsage(rookery.store, { agent: textOption(options, "agent"), since });
  if (isSet(options, "json")) {
    for (const { agent, usage, models } of sums) {
      const each = models.map(({ model, usage: used }) => ({ model, ...used }));
      await printJson(io, { agent, ...usage, models: each });
    }
  } else if (sums.length === 0) {
    await print(io, withCommandPrefix(io, 'no usage was reported yet; start a session: rookery run "PROMPT"\n'));
  } else await print(io, formatUsageTable(sums));
  return EXIT.done;
}

const HEAD = ["agent", "model", "tokens in", "from cache", "tokens out", "cost"];

function formatUsageTable(sums: readonly AgentUsage[]): string {
  const all = sums.length < 2 ? [] : [["all", "", ...usageCells(totalUsage(sums.map(({ usage }) => usage)))]];
  return formatColumns([HEAD, ...sums.flatMap(agentRows), ...all]);
}

/** Returns one row for an agent with one model, or a total row and one row per model. */
function agentRows({ agent, usage, models }: AgentUsage): string[][] {
  const [first] = models;
  const one = models.length === 1 ? first?.model : undefined;
  const own = [toSingleLine(agent), toSingleLine(one ?? ""), ...usageCells(usage)];
  if (models.length < 2) return [own];
  return [own, ...models.map(({ model, usage: used }) => ["", toSingleLine(model ?? "unknown"), ...usageCells(used)])];
}

function usageCells(usage: Usage): string[] {
  const { inputTokens, cacheReadTokens, outputTokens } = usage;
  return [
    formatCount(inputTokens),
    formatCount(cacheReadTokens),
    formatCount(outputTokens),
    formatUsageCost(usage, "unknown"),
  ];
}
