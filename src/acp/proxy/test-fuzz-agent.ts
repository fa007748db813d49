/** An agent for fuzzing: answers by itself at random moments and records what it sent about each session, in order. */
import type { Random } from "../../programs/test-fuzz.ts";
import { pause } from "./test-ends.ts";
import type { RawPeer } from "./test-traffic.ts";

/** One message about a session. `text` identifies it. */
export interface SessionMessage {
  readonly kind: "update" | "request" | "setup" | "prompt";
  readonly text: string;
}

interface OpenRequest {
  readonly id: number | string;
  readonly method: string;
  readonly params: unknown;
}

/** The names of sessions come from the working directory: `/a` is session `a`. */
export class FuzzAgent {
  readonly sent = new Map<string, SessionMessage[]>();
  readonly #peer: RawPeer;
  readonly #random: Random;
  readonly #running = new Set<Promise<void>>();
  #flushed: Promise<void> = Promise.resolve();
  #count = 0;

  constructor(peer: RawPeer, random: Random) {
    this.#peer = peer;
    this.#random = random;
  }

  /** Answers what has arrived. Call it on every turn of the event loop. */
  step(): void {
    for (const request of this.#peer.owed.splice(0)) {
      const work = this.#serve(request).finally(() => this.#running.delete(work));
      this.#running.add(work);
    }
  }

  get isIdle(): boolean {
    return this.#running.size === 0 && this.#peer.owed.length === 0;
  }

  async #serve(request: OpenRequest): Promise<void> {
    const params = (request.params ?? {}) as { cwd?: string; sessionId?: string; prompt?: { text?: string }[] };
    if (request.method === "initialize") return this.#answer(request, { protocolVersion: 1, agentCapabilities: {} });
    if (request.method === "session/new") {
      const sessionId = (params.cwd ?? "").slice(1);
      await this.#speak(sessionId, 3);
      this.#record(sessionId, { kind: "setup", text: "setup" });
      await this.#answer(request, { sessionId, _meta: { about: sessionId, text: "setup" } });
      return this.#speak(sessionId, 3);
    }
    const { sessionId = "" } = params;
    await this.#speak(sessionId, 6);
    const text = `prompt ${params.prompt?.[0]?.text ?? ""}`;
    this.#record(sessionId, { kind: "prompt", text });
    await this.#answer(request, { stopReason: "end_turn", _meta: { about: sessionId, text } });
  }

  async #speak(sessionId: string, most: number): Promise<void> {
    for (let left = this.#random.below(most); left > 0; left -= 1) {
      const text = `m${(this.#count += 1)}`;
      if (this.#random.chance(0.2)) this.#ask(sessionId, text);
      else {
        this.#record(sessionId, { kind: "update", text });
        const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
        this.#peer.notify("session/update", { sessionId, update });
      }
      if (this.#random.chance(0.5)) await this.#flush();
      await pause(this.#random);
    }
    await this.#flush();
  }

  #ask(sessionId: string, text: string): void {
    this.#record(sessionId, { kind: "request", text });
    const options = [{ optionId: "a", name: "allow", kind: "allow_once" }];
    const toolCall = { toolCallId: text, title: text };
    this.#peer.request("session/request_permission", { sessionId, toolCall, options });
  }

  async #answer(request: OpenRequest, result: unknown): Promise<void> {
    this.#peer.owed.unshift(request);
    this.#peer.answerTo(request.method, result, (params) => params === request.params);
    await this.#flush();
  }

  /** One at a time, because it writes in pieces. */
  #flush(): Promise<void> {
    this.#flushed = this.#flushed.then(() => this.#peer.flush());
    return this.#flushed;
  }

  #record(sessionId: string, message: SessionMessage): void {
    this.sent.set(sessionId, [...(this.sent.get(sessionId) ?? []), message]);
  }
}
