// The scripted model for programs that cannot use an ACP agent: answers each prompt with numbered texts.
import { say, startModelServer } from "../../dist/testing/index.js";
import { now } from "./count.mjs";
import { padding } from "./burst.mjs";

/** Rookery's configuration of the scripted model. */
export function environmentFor({ url }) {
  return { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "fake" };
}

/** Starts a model. Resolves with `{ url, env, total, inARound, begunAt(), close() }`. */
export async function talkative(total) {
  const text = Array.from({ length: total }, (_, number) => `${number}${padding(0)}`);
  let begun;
  const model = await startModelServer(({ toolNames }) => {
    if (toolNames.length === 0) return say("A title"); // requested in addition to the answer
    begun = now();
    return say(text);
  });
  const env = environmentFor(model);
  return { url: model.url, env, total, inARound: total, begunAt: () => begun, close: () => model.close() };
}
