/** `rookery usage`: tokens and cost of all sessions, by agent and model. */
import type { Usage } from "../../domain/usage.ts";
import { systemClock } from "../../stdx/clock.ts";
import type { Call } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { columns, count } from "../format.ts";
import { asTyped, print, printJson } from "../io.ts";
import { openLog } from "../log.ts";
import { isSet, textOption } from "../options.ts";
import { oneLine } from "../printable.ts";
import { costWords } from "../run/view.ts";
import { sinceOf } from "./since.ts";
import { sumUsage, total, type Sum } from "./sum.ts";

export async function showUsage({ io, options }: Call): Promise<ExitCode> {
  const said = textOption(options, "since");
  const since = said === undefined ? undefined : sinceOf(said, systemClock.now());
  await using rookery = await openLog(io);
  const sums = await sumUsage(rookery.store, { agent: textOption(options, "agent"), since });
  if (isSet(options, "json")) {
    for (const { agent, usage, models } of sums) {
      const each = models.map(({ model, usage: used }) => ({ model, ...used }));
      await printJson(io, { agent, ...usage, models: each });
    }
  } else if (sums.length === 0) {
    await print(io, asTyped(io, 'no usage was reported; start something: rookery run "PROMPT"\n'));
  } else await print(io, tableOf(sums));
  return EXIT.done;
}

const HEAD = ["agent", "model", "tokens in", "from cache", "tokens out", "cost"];

function tableOf(sums: readonly Sum[]): string {
  const all = sums.length < 2 ? [] : [["all", "", ...cells(total(sums.map(({ usage }) => usage)))]];
  return columns([HEAD, ...sums.flatMap(rowsOf), ...all]);
}

/** An agent with one model has one row; one with several has a row for all of them first. */
function rowsOf({ agent, usage, models }: Sum): string[][] {
  const [first] = models;
  const one = models.length === 1 ? first?.model : undefined;
  const own = [oneLine(agent), oneLine(one ?? ""), ...cells(usage)];
  if (models.length < 2) return [own];
  return [own, ...models.map(({ model, usage: used }) => ["", oneLine(model ?? "unknown"), ...cells(used)])];
}

function cells(usage: Usage): string[] {
  const { inputTokens, cacheReadTokens, outputTokens } = usage;
  return [count(inputTokens), count(cacheReadTokens), count(outputTokens), costWords(usage, "unknown")];
}
