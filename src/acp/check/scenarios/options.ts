/** Modes and config options: what is offered, and what setting an option gives. */
import { outcomeText, resultOf } from "../agent/outcome.ts";
import type { Members } from "../object.ts";
import { quoted } from "../quote.ts";
import { newSession, openAgent, type Agent, type Scene } from "../scene.ts";
import { offeredValues, settingsIn } from "../settings.ts";

export async function options(scene: Scene): Promise<void> {
  const { findings } = scene;
  await using agent = await openAgent(scene);
  const session = agent && (await newSession(scene, agent));
  if (agent === undefined || session === undefined) return;
  const settings = settingsIn(session.state);
  if (settings.modes === undefined && settings.options === undefined) findings.notOffered(21);
  if (settings.options === undefined) return findings.notOffered(22);
  const option = settings.options.find(({ type }) => type === "select");
  if (option === undefined) return findings.unseen(22, "there is no option to choose from");
  await setOption(scene, agent, session.id, option, settings.options);
}

async function setOption(
  { findings }: Scene,
  { peer }: Agent,
  sessionId: string,
  option: Members,
  all: readonly Members[],
): Promise<void> {
  const { id: configId, currentValue } = option;
  const set = async (value: unknown) => peer.request("session/set_config_option", { sessionId, configId, value });
  // What is current already changes nothing else, so the list must have every option it had.
  const same = await set(currentValue);
  const listed = optionsIn(resultOf(same));
  if (listed === undefined) return findings.fail(22, outcomeText("session/set_config_option", same));
  const missing = all.find(({ id }) => !listed.some((each) => each["id"] === id));
  if (missing !== undefined) {
    return findings.fail(22, `the list lacks the option ${quoted(missing["id"])} that session/new gave`);
  }
  const other = offeredValues(option).find((value) => value !== currentValue);
  if (other !== undefined) {
    // A value may be refused for reasons of its own; where it is taken, the list says so.
    const changed = optionsIn(resultOf(await set(other)));
    const now = changed?.find(({ id }) => id === configId);
    if (changed !== undefined && now?.["currentValue"] !== other) {
      return findings.fail(22, `the list does not show ${quoted(other)}, to which ${quoted(configId)} was set`);
    }
    await set(currentValue);
  }
  findings.pass(22);
}

function optionsIn(result: Members | undefined): readonly Members[] | undefined {
  return result === undefined ? undefined : settingsIn(result).options;
}
