/** An agent that is a child process: a transport to speak to it, and an end that leaves nothing of it behind. */
import { randomBytes } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { RookeryError } from "../../domain/errors.ts";
import {
  deferred,
  killMarked,
  startGroup,
  startTimeOf,
  type ProcessGroup,
  type ProcessIdentity,
} from "../../stdx/index.ts";
import type { PeerExit } from "../errors.ts";
import { streamTransport, type Transport } from "../wire/transport.ts";
import { startFailure } from "./failure.ts";
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
  /** Hears what comes there, as it comes and as it is. */
  readonly onStderr?: ((text: string) => void) | undefined;
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
  exit(): Promise<PeerExit>;
  /**
   * Closes its stdin, then TERM to its group, then KILL, each after a deadline; resolves when nothing of it is left.
   * What it wrote before is still delivered if it is read at once. A second call waits for the first.
   */
  close(deadlines?: CloseDeadlines): Promise<PeerExit>;
}

const EOF_MS = 1_000;
const TERM_MS = 2_000;
/** How long what outlives the process may hold its output open; it has lost its stdin and cannot be spoken to. */
const LINGER_MS = 500;

/** Rejects with `agent_unavailable` or `cwd_missing`. */
export async function startAgent(options: AgentCommand): Promise<AgentProcess> {
  const { cwd, env } = options;
  const [program, ...args] = options.command;
  if (program === undefined || program === "") {
    throw new RookeryError("agent_unavailable", "there is no program to start: the agent's command is empty");
  }
  const own = `agent-${randomBytes(6).toString("hex")}`;
  const marker = options.marker === undefined ? own : `${options.marker},${own}`;
  let group: ProcessGroup;
  try {
    group = await startGroup(program, args, { cwd, env, marker, stdin: "pipe" });
  } catch (error) {
    throw await startFailure(program, cwd, error);
  }
  return new Agent(group, own, options);
}

class Agent implements AgentProcess {
  readonly identity: ProcessIdentity;
  readonly marker: string;
  readonly transport: Transport;
  readonly #group: ProcessGroup;
  readonly #stdin: Writable;
  readonly #stdout: Readable;
  readonly #stderr: Readable;
  readonly #tail = new StderrTail();
  readonly #exit: Promise<PeerExit>;
  /** Nothing that it started is left. */
  readonly #swept: Promise<void>;
  #closing: Promise<PeerExit> | undefined;

  constructor(group: ProcessGroup, marker: string, { maxMessageBytes, onStderr }: AgentCommand) {
    const { stdin, stdout, stderr } = group.child;
    if (stdin === null || stdout === null || stderr === null) throw new Error("a child without pipes");
    this.#group = group;
    this.identity = group.identity;
    this.marker = marker;
    this.#stdin = stdin;
    this.#stdout = stdout;
    this.#stderr = stderr;
    for (const stream of [stdin, stdout, stderr]) stream.on("error", () => undefined); // the transport tells of it
    stderr.on("data", (bytes: Buffer) => {
      const text = this.#tail.push(bytes);
      if (text !== "") onStderr?.(text);
    });
    this.transport = waiting(stdout, streamTransport(stdout, stdin, { maxMessageBytes }));
    const outputs = [ended(stdout), ended(stderr)] as const;
    this.#swept = this.#sweep(Promise.all(outputs));
    this.#exit = this.#exited(outputs[1]);
  }

  get stderrTail(): string {
    return this.#tail.text();
  }

  exit(): Promise<PeerExit> {
    return this.#exit;
  }

  close(deadlines: CloseDeadlines = {}): Promise<PeerExit> {
    this.#closing ??= this.#close(deadlines);
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close({ eofMs = EOF_MS, termMs = TERM_MS }: CloseDeadlines): Promise<PeerExit> {
    this.#stdin.end();
    if (!(await within(eofMs, this.#group.ended))) {
      this.#signal("SIGTERM");
      if (!(await within(termMs, this.#group.ended))) this.#signal("SIGKILL");
    }
    const exit = await this.#exit;
    await this.#swept;
    // Nobody is left to write: what is read at once is there already, and what is not read is not wanted.
    await within(LINGER_MS, ended(this.#stdout));
    this.#stdout.destroy();
    this.#stderr.destroy();
    return exit;
  }

  async #exited(stderrEnded: Promise<void>): Promise<PeerExit> {
    await this.#group.ended;
    const { exitCode, signalCode } = this.#group.child;
    await Promise.race([stderrEnded, this.#swept.catch(() => undefined)]); // `close` tells of what could not be ended
    return { exitCode, signal: signalCode, stderr: this.stderrTail };
  }

  /** Ends what outlives the process: in its group, and outside of it. */
  async #sweep(outputsEnded: Promise<unknown>): Promise<void> {
    await this.#group.ended;
    await within(LINGER_MS, outputsEnded);
    // While anything of the group lives, no process can get its number.
    if (startTimeOf(this.identity.pid) === undefined) this.#signal("SIGKILL");
    await killMarked(this.marker);
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.identity.pid, signal);
    } catch {
      // no such group any more
    }
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

function ended(stream: Readable): Promise<void> {
  const end = deferred();
  if (stream.readableEnded || stream.destroyed) end.resolve();
  else stream.once("end", () => end.resolve()).once("close", () => end.resolve());
  return end.promise;
}

/** Whether it came in time. */
async function within(ms: number, event: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  const late = sleep(ms, false, { signal: timer.signal }).catch(() => false);
  const inTime = await Promise.race([event.then(() => true), late]);
  timer.abort();
  return inTime;
}
