// The scripted ACP agent for all servers: sends numbered texts as fast as it can on each prompt.
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { acpAgentCommand } from "../../dist/testing/index.js";

/** Messages are limited: after this many texts, the agent uses a tool and continues in another message. */
export const IN_A_MESSAGE = 1_000;
const TEXT = "x".repeat(180);

/** The suffix of text N in message M, without N. See ./count.mjs. */
export function padding(message) {
  return `#${message}|${TEXT}`;
}

/** `begunAt` is the time of the first text, on the clock of ./count.mjs. */
export function burst(folder, total, name = "burst") {
  const begun = join(folder, `${name}.begun`);
  const script = join(folder, `${name}.json`);
  const messages = Array.from({ length: total / IN_A_MESSAGE }, (_, message) => [
    { flood: { count: IN_A_MESSAGE, padding: padding(message) } },
    {
      update: {
        sessionUpdate: "tool_call",
        toolCallId: `call-${message}`,
        title: "Look",
        kind: "read",
        status: "completed",
      },
    },
  ]);
  writeFileSync(script, JSON.stringify({ otherwise: [{ touch: begun }, ...messages.flat()] }));
  return { total, inARound: IN_A_MESSAGE, command: acpAgentCommand(script), begunAt: () => statSync(begun).mtimeMs };
}
