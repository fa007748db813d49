/** What an agent does with a command in the background: sees what it prints, gives it input, ends it. */
import { z } from "zod";
import { defineTool, ok, systemText } from "../tool.ts";
import type { Told } from "./background.ts";

const MAX_WAIT_MS = 600_000;
const MAX_INPUT_LENGTH = 100_000;

const handle = () => systemText().describe("as bash gave it, such as bash-1");

export const bashOutput = defineTool({
  name: "bash_output",
  description:
    "What a background command printed since the last time, and whether it still runs. With wait_ms, waits that long for something to be printed, or for its end.",
  kind: "read",
  readOnly: true,
  timeoutMs: Infinity, // it has its own
  input: z.strictObject({
    handle: handle(),
    wait_ms: z.int().nonnegative().max(MAX_WAIT_MS).optional(),
  }),
  describe: (input) => ({ title: `see what ${input.handle} printed` }),
  async run(input, { background, signal }) {
    return ok(inWords(input.handle, await background.output(input.handle, input.wait_ms ?? 0, signal)));
  },
});

export const bashInput = defineTool({
  name: "bash_input",
  description: "Write to the input of a background command. Give line ends yourself; end: true closes the input.",
  kind: "execute",
  readOnly: false,
  input: z.strictObject({
    handle: handle(),
    text: z.string().max(MAX_INPUT_LENGTH),
    end: z.boolean().optional(),
  }),
  describe: ({ handle: to, text }) => ({
    title: `type into ${to}: ${JSON.stringify(text.slice(0, 100).toWellFormed())}`,
  }),
  async run({ handle: to, text, end = false }, { background, signal }) {
    await background.input(to, text, end, signal);
    return ok(`${to} was given ${text.length} characters${end ? ", and its input was closed" : ""}`);
  },
});

export const bashKill = defineTool({
  name: "bash_kill",
  description: "End a background command and all that it started. Gives what it printed last.",
  kind: "execute",
  readOnly: false,
  repeatable: true,
  input: z.strictObject({ handle: handle() }),
  describe: (input) => ({ title: `end ${input.handle}` }),
  async run(input, { background }) {
    return ok(inWords(input.handle, await background.kill(input.handle)));
  },
});

function inWords(name: string, { text, exit }: Told): string {
  const ended = exit?.exitCode === null ? `killed by ${exit.signal ?? "a signal"}` : `exit code ${exit?.exitCode ?? 0}`;
  const state = exit === undefined ? `[${name} runs]` : `[${name} has ended: ${ended}]`;
  return text === "" ? state : `${text}\n${state}`;
}
