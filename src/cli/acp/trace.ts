/** `rookery acp trace`: prints a connection that was recorded with --trace. */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { viewTrace } from "../../acp/devtools/trace/index.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { print } from "../io.ts";

export async function traceCommand({ io, args: [file = "-"] }: CommandCall): Promise<ExitCode> {
  const input = file === "-" ? io.stdin : createReadStream(file);
  if (input !== io.stdin) await waitUntilOpen(input);
  for await (const line of viewTrace(createInterface({ input, crlfDelay: Infinity }))) await print(io, `${line}\n`);
  return EXIT.done;
}

/** Rejects if the file cannot be opened. */
async function waitUntilOpen(input: NodeJS.ReadableStream): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    input.once("open", () => resolve());
    input.once("error", reject);
  });
}
