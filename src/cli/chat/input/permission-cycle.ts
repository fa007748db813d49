/** Shift-Tab: changes the permission policy to the next one. */
import type { PermissionPolicy } from "../../../domain/events.ts";
import type { ChatHost } from "../host.ts";

/** `all` is left out: it would take effect in the running turn while the person only passes it. */
const CYCLE: readonly PermissionPolicy[] = ["ask", "read"];

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
