/** The context of a check run, and functions to start an initialized agent and create sessions. */
import { formatOutcome, getResultObject, type RequestOutcome } from "./agent/outcome.ts";
import { CheckConnection, type CheckConnectionOptions } from "./agent/check-connection.ts";
import { getObjectMember, type JsonMembers } from "../../wire/json-object.ts";
import { observeMessages } from "./observe.ts";

export interface CheckContext extends CheckConnectionOptions {
  /** The text of a normal prompt. */
  readonly prompt: string;
  readonly slowPrompt: string;
  /** The authentication method to use if the agent asks for one. */
  readonly authenticate: string | undefined;
}

/** An initialized agent. */
export interface InitializedAgent extends AsyncDisposable {
  readonly peer: CheckConnection;
  readonly capabilities: JsonMembers;
}

/** The client advertises no capabilities: several checks look for an agent that uses them anyway. */
export const initializeParams = (protocolVersion: number): JsonMembers => ({
  protocolVersion,
  clientCapabilities: {},
  clientInfo: { name: "rookery-check", version: "1" },
});

/** Undefined, with a finding recorded, if the agent cannot be initialized. */
export async function openInitializedAgent(context: CheckContext): Promise<InitializedAgent | undefined> {
  const peer = await CheckConnection.start(context);
  const initialized = await initialize(context, peer);
  if (initialized === undefined) {
    await peer.close();
    return undefined;
  }
  const capabilities = getObjectMember(initialized, "agentCapabilities");
  return { peer, capabilities, [Symbol.asyncDispose]: () => peer[Symbol.asyncDispose]() };
}

async function initialize(context: CheckContext, peer: CheckConnection): Promise<JsonMembers | undefined> {
  const { findings, messages, authenticate } = context;
  observeMessages(peer, findings);
  const outcome = await peer.request("initialize", initializeParams(1));
  const initialized = getResultObject(outcome);
  const fault =
    outcome.kind === "result" ? messages.result("initialize", outcome.result) : formatInitializeOutcome(outcome);
  if (fault !== undefined) findings.fail(5, fault);
  if (initialized === undefined) return undefined;
  findings.recordIdentity(initialized);
  if (initialized["protocolVersion"] !== 1) {
    findings.fail(5, `version 1 was answered with ${JSON.stringify(initialized["protocolVersion"])}`);
    return undefined;
  }
  findings.pass(5);
  if (authenticate === undefined) return initialized;
  const authenticated = await peer.request("authenticate", { methodId: authenticate });
  if (authenticated.kind === "result") return initialized;
  findings.fail(8, formatOutcome("authenticate", authenticated));
  return undefined;
}

/** Undefined, with a finding recorded, if no session was created. */
export async function createCheckSession(
  context: CheckContext,
  { peer }: InitializedAgent,
): Promise<{ id: string; state: JsonMembers } | undefined> {
  const outcome = await peer.request("session/new", { cwd: context.target.cwd, mcpServers: [] });
  const state = getResultObject(outcome);
  const id = state?.["sessionId"];
  if (state === undefined || typeof id !== "string") {
    context.findings.fail(8, formatOutcome("session/new", outcome));
    return undefined;
  }
  context.findings.hideSessionId(id);
  return { id, state };
}

const formatInitializeOutcome = (outcome: RequestOutcome): string => formatOutcome("initialize", outcome);
