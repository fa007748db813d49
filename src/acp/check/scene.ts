/** What every scenario needs: an agent that was started afresh and initialized, and sessions in it. */
import { outcomeText, resultOf, type Outcome } from "./agent/outcome.ts";
import { Peer, type PeerOptions } from "./agent/peer.ts";
import { members, type Members } from "./object.ts";
import { observe } from "./observe.ts";

export interface Scene extends PeerOptions {
  /** The text of a usual prompt, and of one that runs long enough to be cancelled. */
  readonly prompt: string;
  readonly slowPrompt: string;
  /** The method to authenticate with, where the agent asks for that. */
  readonly authenticate: string | undefined;
}

/** An initialized agent. */
export interface Agent extends AsyncDisposable {
  readonly peer: Peer;
  readonly capabilities: Members;
}

/** The client that the runner plays offers nothing: what an agent does all the same is what several checks look for. */
export const initializeParams = (protocolVersion: number): Members => ({
  protocolVersion,
  clientCapabilities: {},
  clientInfo: { name: "rookery-check", version: "1" },
});

/** Undefined where the agent cannot be talked to; why is a finding then. */
export async function openAgent(scene: Scene): Promise<Agent | undefined> {
  const peer = await Peer.start(scene);
  const initialized = await initialize(scene, peer);
  if (initialized === undefined) {
    await peer.close();
    return undefined;
  }
  const capabilities = members(initialized, "agentCapabilities");
  return { peer, capabilities, [Symbol.asyncDispose]: () => peer[Symbol.asyncDispose]() };
}

async function initialize(scene: Scene, peer: Peer): Promise<Members | undefined> {
  const { findings, messages, authenticate } = scene;
  observe(peer, findings);
  const outcome = await peer.request("initialize", initializeParams(1));
  const initialized = resultOf(outcome);
  const fault = outcome.kind === "result" ? messages.result("initialize", outcome.result) : notAResult(outcome);
  if (fault !== undefined) findings.fail(5, fault);
  if (initialized === undefined) return undefined;
  findings.introduced(initialized);
  if (initialized["protocolVersion"] !== 1) {
    findings.fail(5, `version 1 was answered with ${JSON.stringify(initialized["protocolVersion"])}`);
    return undefined;
  }
  findings.pass(5);
  if (authenticate === undefined) return initialized;
  const authenticated = await peer.request("authenticate", { methodId: authenticate });
  if (authenticated.kind === "result") return initialized;
  findings.fail(8, outcomeText("authenticate", authenticated));
  return undefined;
}

/** Undefined, with a finding, where there is none. */
export async function newSession(scene: Scene, { peer }: Agent): Promise<{ id: string; state: Members } | undefined> {
  const outcome = await peer.request("session/new", { cwd: scene.target.cwd, mcpServers: [] });
  const state = resultOf(outcome);
  const id = state?.["sessionId"];
  if (state === undefined || typeof id !== "string") {
    scene.findings.fail(8, outcomeText("session/new", outcome));
    return undefined;
  }
  scene.findings.conceal(id);
  return { id, state };
}

const notAResult = (outcome: Outcome): string => outcomeText("initialize", outcome);
