/** A running ACP agent as a program that `program-connection.ts` hosts. */
import type {
  OfferedCommand,
  Capabilities,
  LimitReached,
  PermissionPolicy,
  TurnContext,
  TurnOutcome,
} from "../../domain/index.ts";
import type { schema } from "../../acp/index.ts";
import type { ReportedCall } from "../offered-tools.ts";
import type { LiveProgram, NativeSessionOrigin, ProgramTurn } from "../program/index.ts";
import { acceptsAttachment, toContentBlock } from "./blocks.ts";
import { listOfferedModels, startLiveAcpAgent, type LiveAcpAgent, type LiveAcpOptions } from "./live-agent.ts";
import type { AcpMessageRouter } from "./message-router.ts";
import { AcpTurnDriver } from "./turn.ts";

export interface AcpProgramOptions extends Omit<LiveAcpOptions, "handlers" | "gate" | "noise"> {
  /** Receives the agent's messages. It may outlive this process and serve the next one. */
  readonly router: AcpMessageRouter;
  readonly readCapabilities: (live: LiveAcpAgent) => Capabilities;
  readonly fitsPolicy: (permissions: PermissionPolicy) => boolean;
  /** Whether the log gets the version that the agent reports. Default: false. */
  readonly recordsVersion?: boolean | undefined;
  /** The content that prompts may have. Default: what the agent announces. */
  readonly promptCapabilities?: schema.PromptCapabilities | undefined;
}

/** Rejects as `startLiveAcpAgent` does. */
export async function startAcpProgram(options: AcpProgramOptions): Promise<LiveProgram> {
  const { handlers, gate, noise } = options.router;
  return new LiveAcpProgram(await startLiveAcpAgent({ ...options, handlers, gate, noise }), options);
}

class LiveAcpProgram implements LiveProgram {
  readonly #live: LiveAcpAgent;
  readonly #options: AcpProgramOptions;
  /** Cost of the agent's session so far, in USD. Undefined until the first turn. */
  #cost: number | undefined;

  constructor(live: LiveAcpAgent, options: AcpProgramOptions) {
    this.#live = live;
    this.#options = options;
  }

  get process(): LiveAcpAgent["process"] {
    return this.#live.process;
  }

  get command(): readonly string[] {
    return this.#options.command;
  }

  get how(): NativeSessionOrigin {
    return this.#live.how;
  }

  get lost(): string | undefined {
    const { lost } = this.#live;
    return lost === undefined ? undefined : `${this.#agent} could not resume its session (${lost})`;
  }

  get nativeId(): string {
    return this.#live.session.id;
  }

  get version(): string | undefined {
    return this.#options.recordsVersion === true ? this.#live.client.agent.agentInfo?.version : undefined;
  }

  get capabilities(): Capabilities {
    return this.#options.readCapabilities(this.#live);
  }

  get commands(): readonly OfferedCommand[] {
    return this.#options.router.commands;
  }

  get models(): readonly string[] {
    return listOfferedModels(this.#live.session);
  }

  get hasEnded(): boolean {
    return this.#live.client.connection.over !== undefined || this.#live.session.isBroken;
  }

  fitsPolicy(permissions: PermissionPolicy): boolean {
    return this.#options.fitsPolicy(permissions);
  }

  acceptsMedia(mediaType: string): boolean {
    return acceptsAttachment(mediaType, this.#promptCapabilities);
  }

  takeCall(isWanted: (call: ReportedCall) => boolean): string | undefined {
    return this.#options.router.turn?.takeCall(isWanted);
  }

  async run(turn: ProgramTurn): Promise<TurnOutcome | LimitReached> {
    const { router } = this.#options;
    const { session, how } = this.#live;
    this.#cost ??= how === "new" ? 0 : await readEarlierCost(turn.context, this.#agent);
    const running = new AcpTurnDriver({
      turn: turn.context,
      session,
      agent: this.#agent,
      costBefore: this.#cost,
      findOfferedTool: (call) => turn.findOfferedTool(call),
      isKnownCall: (call) => turn.isKnownCall(call),
    });
    router.startTurn(running);
    try {
      return await running.run(turn.prompt.map((part) => toContentBlock(part, this.#promptCapabilities)));
    } finally {
      router.endTurn();
      this.#cost = running.cost;
      if (session.isBroken) await Promise.allSettled([this[Symbol.asyncDispose]()]); // the next turn starts another agent
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#live[Symbol.asyncDispose]();
  }

  get #agent(): string {
    return this.#options.context.agent.name;
  }

  get #promptCapabilities(): schema.PromptCapabilities {
    return this.#options.promptCapabilities ?? this.#live.client.capabilities.promptCapabilities ?? {};
  }
}

/** Returns the cost in USD that the log has for the agent's current session. */
async function readEarlierCost(turn: TurnContext, agent: string): Promise<number> {
  let cost = 0;
  for await (const event of turn.history()) {
    if (event.agent !== agent) continue; // another agent of this session
    if (event.type === "agent.connected" && (event.how === "new" || event.how === "handed_over")) cost = 0;
    if (event.type === "usage.reported") cost += event.costUsd ?? 0;
  }
  return cost;
}
