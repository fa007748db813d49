/** The scripted model of the demo. It needs no key and no network. */
import { abortableSleep } from "../../stdx/index.ts";
import type { Model, ModelCall } from "../../domain/model.ts";
import { nextDemoReply } from "./script.ts";

export const DEMO_MODEL = "demo/fix-a-test";

/** Words arrive slowly enough to be watched. */
const WORD_MS = 25;

const NO_TOKENS = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

export function openDemoModel(): Model {
  return {
    name: DEMO_MODEL,
    async *stream({ messages, signal }) {
      const { text, calls } = nextDemoReply(messages);
      for (const word of text.split(/(?<= )/)) {
        await abortableSleep(WORD_MS, signal);
        yield { type: "text", text: word };
      }
      const made = calls.map(({ name, input }, index): ModelCall => {
        return { toolId: `demo_${messages.length}_${index}`, name, input };
      });
      const stopReason = made.length > 0 ? "tool-calls" : "stop";
      yield { type: "reply", reply: { text, calls: made, stopReason, usage: NO_TOKENS, native: null } };
    },
  };
}
