/** For tests: runs the command line in this process. It starts no Node, so it takes milliseconds instead of 200. */
import { PassThrough, Readable } from "node:stream";
import packageJson from "../../package.json" with { type: "json" };
import type { Io, TerminalStream } from "./io.ts";
import { executeCommand } from "./execute.ts";

export interface InProcessOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly input?: string | Uint8Array;
}

export interface InProcessResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Nobody is at a terminal. Use the built command to test signals, exit, terminals, or files that the bundle loads. */
export async function runInProcess(
  args: readonly string[],
  { cwd, env, input = "" }: InProcessOptions,
): Promise<InProcessResult> {
  const stdout = collectOutput();
  const stderr = collectOutput();
  const io: Io = {
    env,
    version: packageJson.version,
    stdin: Readable.from([Buffer.from(input)]),
    terminalInput: undefined,
    stdout: stdout.stream,
    stderr: stderr.stream,
    cwd: () => cwd,
    onOutputClosed: new Set(),
    outputFailed: () => false,
  };
  const code = await executeCommand(io, args);
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

function collectOutput(): { readonly stream: TerminalStream; text(): string } {
  const stream = new PassThrough();
  let text = "";
  stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return { stream, text: () => text + String(stream.read() ?? "") };
}
