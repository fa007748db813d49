/** Shift-Tab: changes the permission policy to the next one. */
import type { PermissionPolicy } from "../../../domain/events.ts";
import type { ChatHost } from "../host.ts";

/** `none` is left out: with it, an agent can do nothing. */
const CYCLE: readonly PermissionPolicy[] = ["ask", "read", "all"];

export class PermissionCycle {
  readonly #chat: Pick<ChatHost, "state" | "change">;
  #isChanging = false;

  constructor(chat: Pick<ChatHost, "state" | "change">) {
    this.#chat = chat;
  }

  /** Does nothing while a change is in progress. Rejects like `ChatHost.change`. */
  async next(): Promise<void> {
    if (this.#isChanging) return;
    this.#isChanging = true;
    try {
      const { permissions = "ask" } = this.#chat.state;
      await this.#chat.change({ permissions: CYCLE[(CYCLE.indexOf(permissions) + 1) % CYCLE.length] });
    } finally {
      this.#isChanging = false;
    }
  }
}
