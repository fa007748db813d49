/** Checks modes and config options: the offered values, and the response to setting an option. */
import { formatOutcome, getResultObject } from "../agent/outcome.ts";
import type { JsonMembers } from "../../../wire/json-object.ts";
import { quoteJson } from "../quote.ts";
import { createCheckSession, openInitializedAgent, type InitializedAgent, type CheckContext } from "../context.ts";
import { listOfferedValues, readSessionSettings } from "../session-settings.ts";

export async function checkConfigOptions(context: CheckContext): Promise<void> {
  const { findings } = context;
  await using agent = await openInitializedAgent(context);
  const session = agent && (await createCheckSession(context, agent));
  if (agent === undefined || session === undefined) return;
  const settings = readSessionSettings(session.state);
  if (settings.modes === undefined && settings.options === undefined) findings.notOffered(21);
  if (settings.options === undefined) return findings.notOffered(22);
  const option = settings.options.find(({ type }) => type === "select");
  if (option === undefined) return findings.notSeen(22, "the agent offers no select option");
  await checkSetOption(context, agent, session.id, option, settings.options);
}

async function checkSetOption(
  { findings }: CheckContext,
  { peer }: InitializedAgent,
  sessionId: string,
  option: JsonMembers,
  all: readonly JsonMembers[],
): Promise<void> {
  const { id: configId, currentValue } = option;
  const set = async (value: unknown) => peer.request("session/set_config_option", { sessionId, configId, value });
  // Setting the current value changes nothing, so the list must contain every option it had.
  const same = await set(currentValue);
  const listed = readOptions(getResultObject(same));
  if (listed === undefined) return findings.fail(22, formatOutcome("session/set_config_option", same));
  const missing = all.find(({ id }) => !listed.some((each) => each["id"] === id));
  if (missing !== undefined) {
    return findings.fail(22, `the list lacks the option ${quoteJson(missing["id"])} that session/new returned`);
  }
  const other = listOfferedValues(option).find((value) => value !== currentValue);
  if (other !== undefined) {
    // The agent may refuse a value for its own reasons. If it accepts the value, the list must show it.
    const changed = readOptions(getResultObject(await set(other)));
    const now = changed?.find(({ id }) => id === configId);
    if (changed !== undefined && now?.["currentValue"] !== other) {
      return findings.fail(22, `the list does not show ${quoteJson(other)} after ${quoteJson(configId)} was set to it`);
    }
    await set(currentValue);
  }
  findings.pass(22);
}

function readOptions(result: JsonMembers | undefined): readonly JsonMembers[] | undefined {
  return result === undefined ? undefined : readSessionSettings(result).options;
}
