/** The way to a server that is a child of ours: lines of JSON on its pipes, in a process group that ends with the connection. */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { setTimeout as sleep } from "node:timers/promises";
import { childEnvironment } from "../../domain/child-environment.ts";
import { messageOf, type EventBody, type StdioServerSpec } from "../../domain/index.ts";
import { deferred, startGroup, type ProcessExit, type ProcessGroup } from "../../stdx/index.ts";
import { Lines } from "./lines.ts";
import { Stderr } from "./stderr.ts";
import { Hopeless, type Way } from "./transport.ts";

export interface StdioOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly marker: string;
  readonly maxBytes: number;
  record(body: EventBody): void;
}

/** What a server may leave unread before it is given up. */
const MAX_UNREAD_BYTES = 256 * 1024 * 1024;
/** A server that is told the end by its closed stdin has so long to go by itself. */
const GOODBYE_MS = 500;
/** After the end of the process, for what it printed last; a descendant may hold the pipes for ever. */
const LAST_WORDS_MS = 500;

/** What was to be sent was not: how the server ended is the reason. */
class NotTaken extends Error {}

/** Rejects with `Hopeless` where the program cannot be started. */
export async function openStdio(spec: StdioServerSpec, options: StdioOptions): Promise<Way> {
  const group = await start(spec, options);
  options.record({
    type: "process.started",
    ...group.identity,
    marker: options.marker,
    command: spec.command.slice(0, 1_000), // its arguments may hold what a variable held: a key, say
  });
  return new StdioWay(spec.name, group, options);
}

async function start({ command, args, env, cwd }: StdioServerSpec, options: StdioOptions): Promise<ProcessGroup> {
  try {
    return await startGroup(command, args, {
      cwd: cwd ?? options.cwd,
      env: { ...childEnvironment(options.env), ...env }, // what it needs, its declaration names
      marker: options.marker,
      stdin: "pipe",
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? `${command} was not found (in ${cwd ?? options.cwd})` : message;
    throw new Hopeless(`cannot be started: ${why}`, { cause: error, fix: "correct its command, or install it" });
  }
}

class StdioWay implements Way, Transport {
  onmessage: Transport["onmessage"];
  onclose: Transport["onclose"];
  onerror: Transport["onerror"];
  readonly transport: Transport = this;
  readonly #server: string;
  readonly #group: ProcessGroup;
  readonly #options: StdioOptions;
  readonly #stderr: Stderr;
  readonly #lost = deferred<Error>();
  #why: Error | undefined;
  #exit: ProcessExit | undefined;
  #hasEndedItself = false;
  #hasAnswered = false;
  #noise = 0;
  #closing: Promise<void> | undefined;

  constructor(server: string, group: ProcessGroup, options: StdioOptions) {
    this.#server = server;
    this.#group = group;
    this.#options = options;
    this.#stderr = new Stderr((text) => options.record({ type: "output.text", text, from: `mcp ${server}` }));
    group.child.stderr?.setEncoding("utf8").on("data", (text: string) => this.#stderr.push(text));
    group.child.stdin?.on("error", () => void this.#pipeEnded("it closed its input"));
    void this.#awaitEnd();
  }

  get lost(): Promise<Error> {
    return this.#lost.promise;
  }

  start(): Promise<void> {
    const lines = new Lines(
      {
        line: (text) => this.#read(text),
        tooLong: () => this.#giveUp(`it sent a message of more than ${this.#options.maxBytes} bytes`),
      },
      this.#options.maxBytes,
    );
    this.#group.child.stdout?.on("data", (chunk: Buffer) => lines.push(chunk));
    this.#group.child.stdout?.once("end", () => void this.#pipeEnded("it closed its output"));
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#group.child.stdin;
    if (stdin === null || !stdin.writable)
      return Promise.reject(this.#why ?? new NotTaken("it takes nothing any more"));
    stdin.write(`${JSON.stringify(message)}\n`);
    if (stdin.writableLength > MAX_UNREAD_BYTES) this.#giveUp("it does not read what it is sent");
    return Promise.resolve();
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#end());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  explain(error: unknown): Error {
    const exit = this.#hasEndedItself || error instanceof NotTaken ? this.#exit : undefined;
    const why = this.#why?.message ?? (exit === undefined ? messageOf(error) : this.#ended(exit));
    const message = this.#stderr.tail === "" ? why : `${why}; its last words: ${this.#stderr.tail}`;
    // A server that ends before it says anything will do so again.
    const isHopeless = exit !== undefined && !this.#hasAnswered;
    return isHopeless ? new Hopeless(message, { cause: error }) : new Error(message, { cause: error });
  }

  #ended({ exitCode, signal }: ProcessExit): string {
    const how = signal === null ? `exited with code ${exitCode ?? "unknown"}` : `was ended by ${signal}`;
    return this.#hasAnswered ? `it ${how}` : `it ${how} before it answered`;
  }

  #read(text: string): void {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return this.#passOver(text);
    }
    if (typeof message !== "object" || message === null || !("jsonrpc" in message)) return this.#passOver(text);
    this.#hasAnswered = true;
    this.onmessage?.(message as JSONRPCMessage);
  }

  #passOver(text: string): void {
    this.#noise += 1;
    if (this.#noise > 1) return;
    this.#options.record({
      type: "notice",
      level: "warning",
      code: "mcp_noise",
      message: `the MCP server ${this.#server} prints what is not MCP on its stdout, which is passed over: ${text.slice(0, 200)}`,
    });
  }

  #giveUp(why: string): void {
    if (this.#closing !== undefined) return;
    this.#why ??= new Error(why);
    void this.close();
  }

  /** Most end with it; one that does not cannot be spoken with all the same. */
  async #pipeEnded(what: string): Promise<void> {
    const ended = this.#group.ended.then(() => true);
    if (!(await Promise.race([ended, sleep(LAST_WORDS_MS, false, { ref: false })]))) this.#giveUp(what);
  }

  async #awaitEnd(): Promise<void> {
    await this.#group.ended;
    this.#hasEndedItself = this.#closing === undefined;
    await Promise.race([this.#group.exited, sleep(LAST_WORDS_MS, undefined, { ref: false })]);
    await this.close();
  }

  async #end(): Promise<void> {
    const { child, ended, exited, identity } = this.#group;
    child.stdin?.end();
    if (this.#why === undefined) await Promise.race([ended, sleep(GOODBYE_MS, undefined, { ref: false })]);
    await this.#group.stop();
    const { exitCode, signal } = (this.#exit = await exited);
    this.#stderr.end();
    this.#options.record({ type: "process.exited", pid: identity.pid, exitCode, signal });
    this.#lost.resolve(this.explain(new Error("it ended"))); // before the SDK is told, which knows no reasons
    this.onclose?.();
  }
}
