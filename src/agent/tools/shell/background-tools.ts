/** The tools for background commands: `bash_output`, `bash_input` and `bash_kill`. */
import { z } from "zod";
import { defineTool, okResult, textWithoutNul } from "../tool.ts";
import type { CommandOutput } from "./background-commands.ts";

const MAX_WAIT_MS = 600_000;
const MAX_INPUT_LENGTH = 100_000;

const handle = () => textWithoutNul().describe("as returned by bash, such as bash-1");

export const bashOutputTool = defineTool({
  name: "bash_output",
  description:
    "Get the new output of a background command since the last call, and whether it still runs. With wait_ms, waits at most that long for new output or for the end of the command.",
  kind: "read",
  readOnly: true,
  timeoutMs: Infinity, // limited by wait_ms
  input: z.strictObject({
    handle: handle(),
    wait_ms: z.int().nonnegative().max(MAX_WAIT_MS).optional(),
  }),
  describe: (input) => ({ title: `get the output of ${input.handle}` }),
  async run(input, { background, signal }) {
    return okResult(formatOutput(input.handle, await background.output(input.handle, input.wait_ms ?? 0, signal)));
  },
});

export const bashInputTool = defineTool({
  name: "bash_input",
  description:
    "Write to the standard input of a background command. Include line breaks yourself; end: true closes the input.",
  kind: "execute",
  readOnly: false,
  input: z.strictObject({
    handle: handle(),
    text: z.string().max(MAX_INPUT_LENGTH),
    end: z.boolean().optional(),
  }),
  describe: ({ handle: to, text }) => ({
    title: `write to ${to}: ${JSON.stringify(text.slice(0, 100).toWellFormed())}`,
  }),
  preview({ handle: to }, { background }) {
    background.requireInput(to);
    return {};
  },
  async run({ handle: to, text, end = false }, { background, signal }) {
    await background.input(to, text, end, signal);
    return okResult(`wrote ${text.length} characters to ${to}${end ? " and closed its input" : ""}`);
  },
});

export const bashKillTool = defineTool({
  name: "bash_kill",
  description: "Kill a background command and every process that it started. Returns its last output.",
  kind: "execute",
  readOnly: false,
  repeatable: true,
  input: z.strictObject({ handle: handle() }),
  describe: (input) => ({ title: `kill ${input.handle}` }),
  preview(input, { background }) {
    background.requireCommand(input.handle);
    return {};
  },
  async run(input, { background }) {
    return okResult(formatOutput(input.handle, await background.kill(input.handle)));
  },
});

function formatOutput(name: string, { text, exit }: CommandOutput): string {
  const reason =
    exit?.exitCode === null ? `killed by ${exit.signal ?? "a signal"}` : `exit code ${exit?.exitCode ?? 0}`;
  const state = exit === undefined ? `[${name} is running]` : `[${name} has ended: ${reason}]`;
  return text === "" ? state : `${text}\n${state}`;
}
