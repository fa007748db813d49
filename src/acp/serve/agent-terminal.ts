/** One command that runs for an agent: its output so far, and its exit. */
import type { TerminalOutputResponse, WaitForTerminalExitResponse } from "@agentclientprotocol/sdk";
import { OwnedChild, streamEnded, type OwnedOptions } from "../../programs/owned-child.ts";
import { settlesWithin } from "../../stdx/index.ts";
import { KeptOutput } from "./kept-output.ts";

const GRACE_MS = 2_000;
/** How long background processes may keep the output open after the command exits. */
const LINGER_MS = 200;

export class AgentTerminal {
  /** Resolves when the command has exited and its output is read. Never rejects. */
  readonly exited: Promise<WaitForTerminalExitResponse>;
  readonly #owned: OwnedChild;
  readonly #output: KeptOutput;
  #status: WaitForTerminalExitResponse | undefined;
  #ending: Promise<void> | undefined;

  private constructor(owned: OwnedChild, outputByteLimit: number) {
    this.#owned = owned;
    this.#output = new KeptOutput(outputByteLimit);
    const { child } = owned.group;
    this.#output.collect(child.stdout);
    this.#output.collect(child.stderr);
    this.exited = this.#exit(Promise.all([streamEnded(child.stdout), streamEnded(child.stderr)]));
  }

  /** Rejects with `agent_unavailable` or `cwd_missing`. */
  static async start(
    program: string,
    args: readonly string[],
    { outputByteLimit, ...options }: OwnedOptions & { readonly outputByteLimit: number },
  ): Promise<AgentTerminal> {
    return new AgentTerminal(await OwnedChild.start(program, args, options), outputByteLimit);
  }

  output(): TerminalOutputResponse {
    return { ...this.#output.read(), exitStatus: this.#status ?? null };
  }

  /** Stops the command and its descendants. Its output can still be read. */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #exit(read: Promise<unknown>): Promise<WaitForTerminalExitResponse> {
    const { ended, child } = this.#owned.group;
    await ended;
    await settlesWithin(LINGER_MS, read);
    this.#status = { exitCode: child.exitCode, signal: child.signalCode };
    return this.#status;
  }

  async #end(): Promise<void> {
    const { child } = this.#owned.group;
    if (child.exitCode === null && child.signalCode === null) await this.#owned.end(GRACE_MS);
    await this.#owned.sweep();
    await this.exited;
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}
