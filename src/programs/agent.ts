/** An agent that is a child process: a transport to speak to it, and an end that leaves nothing of it behind. */
import type { Readable, Writable } from "node:stream";
import { settlesWithin } from "../stdx/index.ts";
import { RookeryError } from "../domain/errors.ts";
import type { ProcessIdentity } from "../stdx/index.ts";
import { streamTransport, type Transport } from "./transport.ts";
import { OwnedChild, streamEnded } from "./owned.ts";
import { StderrTail } from "./stderr.ts";

export interface AgentCommand {
  /** The program and its arguments; no shell reads them. */
  readonly command: readonly string[];
  readonly cwd: string;
  /** All of it: nothing is inherited. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of an owner, in the environment beside the one that every agent has for itself. */
  readonly marker?: string | undefined;
  readonly maxMessageBytes?: number | undefined;
  /** Lines with nothing on them are told too. */
  readonly emptyLines?: boolean | undefined;
  /** Hears what comes there, as it comes and as it is. Nothing more is read until a promise that it gives back is settled. */
  readonly onStderr?: ((text: string) => unknown) | undefined;
}

/** How a process ended. */
export interface ProgramExit {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** The last it wrote there. */
  readonly stderr: string;
}

export interface CloseDeadlines {
  /** How long it may take to end once nothing more can be said to it; 1 s if not said. */
  readonly eofMs?: number | undefined;
  /** How long it may take to end once it was told to; 2 s if not said. */
  readonly termMs?: number | undefined;
}

export interface AgentProcess extends AsyncDisposable {
  readonly identity: ProcessIdentity;
  /** In the environment of this agent and of everything that it starts, and of nothing else. */
  readonly marker: string;
  /** What it writes waits until this is started, also when it has ended by then. */
  readonly transport: Transport;
  readonly stderrTail: string;
  /** Resolves when the process that was started has ended. What outlives it is ended too, soon after. */
  exit(): Promise<ProgramExit>;
  /**
   * Closes its stdin, then TERM to its group, then KILL, each after a deadline; resolves when nothing of it is left.
   * What it wrote before is still delivered if it is read at once. A second call waits for the first.
   */
  close(deadlines?: CloseDeadlines): Promise<ProgramExit>;
}

const EOF_MS = 1_000;
const TERM_MS = 2_000;
/** How long what outlives the process may hold its output open; it has lost its stdin and cannot be spoken to. */
const LINGER_MS = 500;

/** Rejects with `agent_unavailable` or `cwd_missing`. */
export async function startAgent(options: AgentCommand): Promise<AgentProcess> {
  const { command, cwd, env, marker, maxMessageBytes, emptyLines, onStderr } = options;
  const owned = await OwnedChild.start(programOf(command), command.slice(1), { cwd, env, marker, stdin: "pipe" });
  const { stdin, stdout, stderr } = owned.group.child;
  if (stdin === null || stdout === null || stderr === null) throw new Error("a child without pipes");
  const tail = new StderrTail();
  stderr.on("data", (bytes: Buffer) => {
    const text = tail.push(bytes);
    const heard = text === "" ? undefined : onStderr?.(text);
    if (!(heard instanceof Promise)) return;
    const resume = () => void stderr.resume();
    stderr.pause();
    heard.then(resume, resume);
  });
  const transport = waiting(stdout, streamTransport(stdout, stdin, { maxMessageBytes, emptyLines }));
  return ownedAgent(owned, { input: stdin, output: stdout, errors: stderr, tail, transport });
}

/** Throws `agent_unavailable` where there is none. */
export function programOf([program]: readonly string[]): string {
  if (program !== undefined && program !== "") return program;
  throw new RookeryError("agent_unavailable", "there is no program to start: the agent's command is empty");
}

/** What a process is spoken to by. */
export interface Ends {
  readonly input: Writable;
  readonly output: Readable;
  /** Where it is not the same as the output. */
  readonly errors?: Readable;
  readonly tail: StderrTail;
  readonly transport: Transport;
}

export function ownedAgent(owned: OwnedChild, ends: Ends): AgentProcess {
  return new Agent(owned, ends);
}

class Agent implements AgentProcess {
  readonly identity: ProcessIdentity;
  readonly marker: string;
  readonly transport: Transport;
  readonly #owned: OwnedChild;
  readonly #ends: Ends;
  readonly #exit: Promise<ProgramExit>;
  /** Nothing that it started is left. */
  readonly #swept: Promise<void>;
  #closing: Promise<ProgramExit> | undefined;

  constructor(owned: OwnedChild, ends: Ends) {
    this.#owned = owned;
    this.#ends = ends;
    this.identity = owned.group.identity;
    this.marker = owned.marker;
    this.transport = ends.transport;
    for (const stream of [ends.input, ends.output, ends.errors]) stream?.on("error", () => undefined); // the transport tells
    this.#swept = this.#sweep();
    this.#exit = this.#exited();
  }

  get stderrTail(): string {
    return this.#ends.tail.text();
  }

  exit(): Promise<ProgramExit> {
    return this.#exit;
  }

  close(deadlines: CloseDeadlines = {}): Promise<ProgramExit> {
    this.#closing ??= this.#close(deadlines);
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close({ eofMs = EOF_MS, termMs = TERM_MS }: CloseDeadlines): Promise<ProgramExit> {
    this.#ends.input.end();
    if (!(await settlesWithin(eofMs, this.#owned.group.ended))) await this.#owned.end(termMs);
    const exit = await this.#exit;
    await this.#swept;
    // Nobody is left to write: what is read at once is there already, and what is not read is not wanted.
    await settlesWithin(LINGER_MS, streamEnded(this.#ends.output));
    this.#ends.output.destroy();
    this.#ends.errors?.destroy();
    return exit;
  }

  async #exited(): Promise<ProgramExit> {
    const { ended, child } = this.#owned.group;
    const said = streamEnded(this.#ends.errors ?? this.#ends.output);
    await ended;
    await Promise.race([said, this.#swept.catch(() => undefined)]); // `close` tells of what could not be ended
    return { exitCode: child.exitCode, signal: child.signalCode, stderr: this.stderrTail };
  }

  async #sweep(): Promise<void> {
    const read = Promise.all([streamEnded(this.#ends.output), streamEnded(this.#ends.errors ?? null)]);
    await this.#owned.group.ended;
    await settlesWithin(LINGER_MS, read);
    await this.#owned.sweep();
  }
}

/** Keeps the output until someone listens: Node throws away what nobody reads once a child has ended. */
function waiting(stdout: Readable, transport: Transport): Transport {
  const hold = (): void => undefined;
  stdout.on("readable", hold);
  return {
    ...transport,
    start(sink) {
      transport.start(sink);
      stdout.off("readable", hold);
    },
  };
}
