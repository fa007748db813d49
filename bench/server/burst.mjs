// The scripted ACP agent that every server is measured with: each prompt has it say numbered texts, as fast as it can.
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { acpAgentCommand } from "../../dist/testing/index.js";

/** A message is not endless: after so many texts the agent uses a tool, and then goes on in another message. */
export const IN_A_MESSAGE = 1_000;
const TEXT = "x".repeat(180);

/** The text of number N in message M, without N: see ./count.mjs. */
export function padding(message) {
  return `#${message}|${TEXT}`;
}

/** `begunAt` is when it began to talk, on the clock that ./count.mjs goes by. */
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
