/** Starts an agent as a child process with a transport, and ends it together with everything it started. */
import type { Readable, Writable } from "node:stream";
import { settlesWithin } from "../stdx/index.ts";
import { RookeryError } from "../domain/errors.ts";
import type { ProcessIdentity } from "../stdx/index.ts";
import { streamTransport, type Transport } from "./transport.ts";
import { OwnedChild, streamEnded } from "./owned-child.ts";
import { StderrTail } from "./stderr-tail.ts";

export interface AgentCommand {
  /** The program and its arguments. Not interpreted by a shell. */
  readonly command: readonly string[];
  readonly cwd: string;
  /** The complete environment; nothing else is inherited. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Marker of the owner, set in the environment in addition to the agent's own marker. */
  readonly marker?: string | undefined;
  readonly maxMessageBytes?: number | undefined;
  /** Whether empty lines are delivered. Default: false. */
  readonly emptyLines?: boolean | undefined;
  /** Receives stderr as it arrives, unfiltered. If it returns a promise, reading pauses until the promise settles. */
  readonly onStderr?: ((text: string) => unknown) | undefined;
}

/** How a process exited. */
export interface ProgramExit {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** The end of its stderr output. */
  readonly stderr: string;
}

export interface CloseDeadlines {
  /** Time to exit after its stdin is closed. Default: 1 s. */
  readonly eofMs?: number | undefined;
  /** Time to exit after SIGTERM. Default: 2 s. */
  readonly termMs?: number | undefined;
}

export interface AgentProcess extends AsyncDisposable {
  readonly identity: ProcessIdentity;
  /** Set in the environment of this agent and everything it starts, and nowhere else. */
  readonly marker: string;
  /** Output is kept until the transport is started, even after the process has exited. */
  readonly transport: Transport;
  readonly stderrTail: string;
  /** Resolves when the process has exited. Surviving child processes are ended soon after. */
  exit(): Promise<ProgramExit>;
  /**
   * Closes stdin, then sends SIGTERM to the group, then SIGKILL, each after a deadline. Resolves when no process is left.
   * Earlier output is still delivered if it is read immediately. A second call waits for the first.
   */
  close(deadlines?: CloseDeadlines): Promise<ProgramExit>;
}

const EOF_MS = 1_000;
const TERM_MS = 2_000;
/** How long surviving child processes may keep the output open; their stdin is gone. */
const LINGER_MS = 500;

/** Rejects with `agent_unavailable` or `cwd_missing`. */
export async function startAgent(options: AgentCommand): Promise<AgentProcess> {
  const { command, cwd, env, marker, maxMessageBytes, emptyLines, onStderr } = options;
  const owned = await OwnedChild.start(programFromCommand(command), command.slice(1), {
    cwd,
    env,
    marker,
    stdin: "pipe",
  });
  const { stdin, stdout, stderr } = owned.group.child;
  if (stdin === null || stdout === null || stderr === null) throw new Error("the child process has no pipes");
  const tail = new StderrTail();
  stderr.on("data", (bytes: Buffer) => {
    const text = tail.push(bytes);
    const handled = text === "" ? undefined : onStderr?.(text);
    if (!(handled instanceof Promise)) return;
    const resume = () => void stderr.resume();
    stderr.pause();
    handled.then(resume, resume);
  });
  const transport = holdOutput(stdout, streamTransport(stdout, stdin, { maxMessageBytes, emptyLines }));
  return createAgentProcess(owned, { input: stdin, output: stdout, errors: stderr, tail, transport });
}

/** Returns the program of a command. Throws `agent_unavailable` if the command is empty. */
export function programFromCommand([program]: readonly string[]): string {
  if (program !== undefined && program !== "") return program;
  throw new RookeryError("agent_unavailable", "the agent's command is empty: configure the program to start");
}

/** The streams of a process. */
export interface ProcessStreams {
  readonly input: Writable;
  readonly output: Readable;
  /** Undefined if stderr is part of the output. */
  readonly errors?: Readable;
  readonly tail: StderrTail;
  readonly transport: Transport;
}

export function createAgentProcess(owned: OwnedChild, ends: ProcessStreams): AgentProcess {
  return new Agent(owned, ends);
}

class Agent implements AgentProcess {
  readonly identity: ProcessIdentity;
  readonly marker: string;
  readonly transport: Transport;
  readonly #owned: OwnedChild;
  readonly #ends: ProcessStreams;
  readonly #exit: Promise<ProgramExit>;
  /** Resolves when nothing that it started is left. */
  readonly #swept: Promise<void>;
  #closing: Promise<ProgramExit> | undefined;

  constructor(owned: OwnedChild, ends: ProcessStreams) {
    this.#owned = owned;
    this.#ends = ends;
    this.identity = owned.group.identity;
    this.marker = owned.marker;
    this.transport = ends.transport;
    for (const stream of [ends.input, ends.output, ends.errors]) stream?.on("error", () => undefined); // the transport reports it
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
    // No writer is left. What a reader wants is already buffered; unread output is discarded.
    await settlesWithin(LINGER_MS, streamEnded(this.#ends.output));
    this.#ends.output.destroy();
    this.#ends.errors?.destroy();
    return exit;
  }

  async #exited(): Promise<ProgramExit> {
    const { ended, child } = this.#owned.group;
    const outputEnded = streamEnded(this.#ends.errors ?? this.#ends.output);
    await ended;
    await Promise.race([outputEnded, this.#swept.catch(() => undefined)]); // `close` reports processes that could not be ended
    return { exitCode: child.exitCode, signal: child.signalCode, stderr: this.stderrTail };
  }

  async #sweep(): Promise<void> {
    const read = Promise.all([streamEnded(this.#ends.output), streamEnded(this.#ends.errors ?? null)]);
    await this.#owned.group.ended;
    await settlesWithin(LINGER_MS, read);
    await this.#owned.sweep();
  }
}

/** Keeps the output until the transport is started: Node discards unread output once a child has exited. */
function holdOutput(stdout: Readable, transport: Transport): Transport {
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
