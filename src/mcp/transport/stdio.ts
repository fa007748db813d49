/**
 * Connects to a server in a child process: JSON lines over its pipes, in a process group that ends with the connection.
 */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { childEnvironment } from "../../domain/child-environment.ts";
import { messageOf, type EventBody, type StdioServerSpec } from "../../domain/index.ts";
import { deferred, raceTimeout, startGroup, type ProcessExit, type ProcessGroup } from "../../stdx/index.ts";
import { MessageLines } from "./lines.ts";
import { StderrRelay } from "./stderr.ts";
import { PermanentFailure, type ServerTransport } from "./transport.ts";

export interface StdioOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly marker: string;
  readonly maxBytes: number;
  record(body: EventBody): void;
}

/** Unread bytes after which the server counts as stuck. */
const MAX_UNREAD_BYTES = 256 * 1024 * 1024;
/** How long a server has to exit after its stdin is closed. */
const EXIT_GRACE_MS = 500;
/** How long to read output after the process has exited. A descendant may keep the pipes open forever. */
const DRAIN_MS = 500;

/** A message could not be sent. The exit of the server is the actual reason. */
class SendFailure extends Error {}

/** Rejects with `PermanentFailure` if the program cannot be started. */
export async function openStdio(spec: StdioServerSpec, options: StdioOptions): Promise<ServerTransport> {
  const group = await startServer(spec, options);
  options.record({
    type: "process.started",
    ...group.identity,
    marker: options.marker,
    command: spec.command.slice(0, 1_000), // without arguments, which may contain an expanded key
  });
  return new StdioServerTransport(spec.name, group, options);
}

async function startServer({ command, args, env, cwd }: StdioServerSpec, options: StdioOptions): Promise<ProcessGroup> {
  try {
    return await startGroup(command, args, {
      cwd: cwd ?? options.cwd,
      env: { ...childEnvironment(options.env), ...env }, // the declaration adds what the server needs
      marker: options.marker,
      stdin: "pipe",
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? `${command} was not found (in ${cwd ?? options.cwd})` : message;
    throw new PermanentFailure(`cannot be started: ${why}`, {
      cause: error,
      fix: "correct its command, or install it",
    });
  }
}

class StdioServerTransport implements ServerTransport, Transport {
  onmessage: Transport["onmessage"];
  onclose: Transport["onclose"];
  onerror: Transport["onerror"];
  readonly transport: Transport = this;
  readonly #server: string;
  readonly #group: ProcessGroup;
  readonly #options: StdioOptions;
  readonly #stderr: StderrRelay;
  readonly #lost = deferred<Error>();
  #failure: Error | undefined;
  #exit: ProcessExit | undefined;
  #exitedByItself = false;
  #hasAnswered = false;
  #ignoredLines = 0;
  #closing: Promise<void> | undefined;

  constructor(server: string, group: ProcessGroup, options: StdioOptions) {
    this.#server = server;
    this.#group = group;
    this.#options = options;
    this.#stderr = new StderrRelay((text) => options.record({ type: "output.text", text, from: `mcp ${server}` }));
    group.child.stderr?.setEncoding("utf8").on("data", (text: string) => this.#stderr.push(text));
    group.child.stdin?.on("error", () => void this.#handlePipeEnd("it closed its input"));
    void this.#awaitEnd();
  }

  get lost(): Promise<Error> {
    return this.#lost.promise;
  }

  start(): Promise<void> {
    const lines = new MessageLines(
      {
        line: (text) => this.#read(text),
        tooLong: () => this.#failWith(`it sent a message of more than ${this.#options.maxBytes} bytes`),
      },
      this.#options.maxBytes,
    );
    this.#group.child.stdout?.on("data", (chunk: Buffer) => lines.push(chunk));
    this.#group.child.stdout?.once("end", () => void this.#handlePipeEnd("it closed its output"));
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#group.child.stdin;
    if (stdin === null || !stdin.writable)
      return Promise.reject(this.#failure ?? new SendFailure("its input is closed"));
    stdin.write(`${JSON.stringify(message)}\n`);
    if (stdin.writableLength > MAX_UNREAD_BYTES) this.#failWith("it does not read its input");
    return Promise.resolve();
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#stop());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  explain(error: unknown): Error {
    const exit = this.#exitedByItself || error instanceof SendFailure ? this.#exit : undefined;
    const why = this.#failure?.message ?? (exit === undefined ? messageOf(error) : this.#describeExit(exit));
    const message = this.#stderr.tail === "" ? why : `${why}; its last output: ${this.#stderr.tail}`;
    // A server that exits before its first message will do so again.
    const isPermanent = exit !== undefined && !this.#hasAnswered;
    return isPermanent ? new PermanentFailure(message, { cause: error }) : new Error(message, { cause: error });
  }

  #describeExit({ exitCode, signal }: ProcessExit): string {
    const how = signal === null ? `exited with code ${exitCode ?? "unknown"}` : `was killed by ${signal}`;
    return this.#hasAnswered ? `it ${how}` : `it ${how} before it answered`;
  }

  #read(text: string): void {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return this.#ignoreLine(text);
    }
    if (typeof message !== "object" || message === null || !("jsonrpc" in message)) return this.#ignoreLine(text);
    this.#hasAnswered = true;
    this.onmessage?.(message as JSONRPCMessage);
  }

  #ignoreLine(text: string): void {
    this.#ignoredLines += 1;
    if (this.#ignoredLines > 1) return;
    this.#options.record({
      type: "notice",
      level: "warning",
      code: "mcp_noise",
      message: `the MCP server ${this.#server} printed something other than MCP on stdout, which Rookery ignores: ${text.slice(0, 200)}`,
    });
  }

  #failWith(why: string): void {
    if (this.#closing !== undefined) return;
    this.#failure ??= new Error(why);
    void this.close();
  }

  /** Most servers exit when a pipe ends. One that does not is unusable and is stopped. */
  async #handlePipeEnd(what: string): Promise<void> {
    const ended = this.#group.ended.then(() => true);
    if ((await raceTimeout(ended, DRAIN_MS, { ref: false })) === undefined) this.#failWith(what);
  }

  async #awaitEnd(): Promise<void> {
    await this.#group.ended;
    this.#exitedByItself = this.#closing === undefined;
    await raceTimeout(this.#group.exited, DRAIN_MS, { ref: false });
    await this.close();
  }

  async #stop(): Promise<void> {
    const { child, ended, exited, identity } = this.#group;
    child.stdin?.end();
    if (this.#failure === undefined) await raceTimeout(ended, EXIT_GRACE_MS, { ref: false });
    await this.#group.stop();
    const { exitCode, signal } = (this.#exit = await exited);
    this.#stderr.end();
    this.#options.record({ type: "process.exited", pid: identity.pid, exitCode, signal });
    this.#lost.resolve(this.explain(new Error("it ended"))); // before `onclose`, which carries no reason
    this.onclose?.();
  }
}
