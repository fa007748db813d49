/** `rookery usage`: prints tokens and cost of all sessions by agent and model. */
import type { Usage } from "../../domain/usage.ts";
import { sumUsage, totalUsage, unpricedTokens, type PricedUsage } from "../../session/usage.ts";
import { systemClock } from "../../stdx/clock.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { formatColumns, formatCount } from "../format.ts";
import { withCommandPrefix, print, printJson } from "../io.ts";
import { openLog } from "../log.ts";
import { isSet, textOption } from "../options.ts";
import { toSingleLine } from "../sanitize.ts";
import { formatUsageCost } from "../transcript/turn-view.ts";
import { groupByAgent, type AgentUsage } from "./by-agent.ts";
import { parseSince } from "./since.ts";

export async function usageCommand({ io, options }: CommandCall): Promise<ExitCode> {
  const said = textOption(options, "since");
  const since = said === undefined ? undefined : parseSince(said, systemClock.now());
  await using rookery = await openLog(io);
  const agent = textOption(options, "agent");
  const sums = groupByAgent(await sumUsage(rookery.store, { by: ["agent", "model"], agent, since }));
  if (isSet(options, "json")) {
    for (const { agent: name, models, ...usage } of sums) {
      const each = models.map(({ model, ...used }) => ({ model, ...toJson(used) }));
      await printJson(io, { agent: name, ...toJson(usage), models: each });
    }
  } else if (sums.length === 0) {
    await print(io, withCommandPrefix(io, 'no usage was reported yet; start a session: rookery run "PROMPT"\n'));
  } else await print(io, `${formatUsageTable(sums)}${formatUnpriced(sums)}`);
  return EXIT.done;
}

const HEAD = ["agent", "model", "tokens in", "from cache", "tokens out", "cost"];

function formatUsageTable(sums: readonly AgentUsage[]): string {
  const all = sums.length < 2 ? [] : [["all", "", ...usageCells(totalUsage(sums))]];
  return formatColumns([HEAD, ...sums.flatMap(agentRows), ...all]);
}

/** Returns one row for an agent with one model, or a total row and one row per model. */
function agentRows({ agent, models, ...usage }: AgentUsage): string[][] {
  const [first] = models;
  const one = models.length === 1 ? first?.model : undefined;
  const own = [toSingleLine(agent), toSingleLine(one ?? ""), ...usageCells(usage)];
  if (models.length < 2) return [own];
  return [own, ...models.map(({ model, ...used }) => ["", toSingleLine(model ?? "unknown"), ...usageCells(used)])];
}

function usageCells(usage: PricedUsage): string[] {
  const { inputTokens, cacheReadTokens, outputTokens } = usage.all;
  return [formatCount(inputTokens), formatCount(cacheReadTokens), formatCount(outputTokens), formatKnownCost(usage)];
}

/** The known part of the cost, with a mark if a part is unknown. */
function formatKnownCost({ all, priced }: PricedUsage): string {
  if (all.costUsd !== undefined) return formatUsageCost(all, "unknown");
  return priced.inputTokens + priced.outputTokens === 0 ? "unknown" : `${formatUsageCost(priced, "unknown")} + unknown`;
}

/** Says for which models the cost is unknown, and how to change that. */
function formatUnpriced(sums: readonly AgentUsage[]): string {
  const models = sums.flatMap(({ agent, models: own }) => own.map((usage) => ({ agent, ...usage })));
  const lines = models.flatMap(({ agent, model, ...usage }) => {
    const count = unpricedTokens(usage);
    const what = `${toSingleLine(agent)}${model === undefined ? "" : `, ${toSingleLine(model)}`}`;
    return usage.all.costUsd === undefined ? [`  ${what}: ${formatCount(count)} tokens\n`] : [];
  });
  if (lines.length === 0) return "";
  return `\nThe cost of these tokens is unknown; set a price with [prices."provider/model"] in rookery.toml:\n${lines.join("")}`;
}

/** `knownCostUsd` and `unpricedTokens` are only present if a part of the cost is unknown. */
function toJson(usage: PricedUsage): Usage & { readonly knownCostUsd?: number | undefined } {
  const { all, priced } = usage;
  if (all.costUsd !== undefined) return all;
  return { ...all, knownCostUsd: priced.costUsd, ...{ unpricedTokens: unpricedTokens(usage) } };
}
