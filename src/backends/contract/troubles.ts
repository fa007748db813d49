/** Contract cases about limits, logins, noise and secrets. */
import { readFileSync } from "node:fs";
import { expect, vi } from "vitest";
import { isRookeryError, type SessionEvent, type TurnOutcome } from "../../domain/index.ts";
import type { Cases } from "./cases.ts";
import { SECRETS } from "./subject.ts";
import { expectGreeting } from "./talking.ts";
import { all, begin, play, processOf, type User } from "./user.ts";
import { PROMPTS } from "./words.ts";

export const troubles = {
  limit: {
    says: "parks the turn at a usage limit until it resets, and lets a client cancel it",
    async run(user) {
      const session = await user.open();
      const turn = session.prompt(PROMPTS.hello);
      const events: SessionEvent[] = [];
      const reading = (async () => {
        for await (const event of turn) events.push(event);
      })();
      await vi.waitFor(() => expect(all(events, "turn.parked")).toHaveLength(1), { timeout: 20_000, interval: 10 });
      const [limit] = all(events, "limit.reached");
      expect(limit?.message).toMatch(/limit|quota/i);
      expect(limit?.resetsAt).toMatch(/^20\d\d-/);
      await session.cancel();
      await reading;
      expect(await turn.outcome).toEqual({ status: "cancelled" });
    },
  },

  login: {
    says: "fails with instructions if the login is missing",
    async run(user) {
      const failure = await failureOf(user);
      expect(failure).toMatchObject({ status: "failed", code: "provider_auth" });
      expect(failure.status === "failed" ? failure.message : "").toMatch(/log ?in|login|API_KEY|api key/i);
    },
  },

  noise: {
    says: "ignores noise between the program's lines, and reports dropped output",
    async run(user) {
      const session = await user.open();
      const events = await play(user, session, PROMPTS.hello);
      expectGreeting(user, events);
      const told = all(events, "notice").map(({ message }) => message);
      expect(told.join("\n")).toContain("xxxxxxxx"); // from the oversized line
      expect(
        all(events, "output.text")
          .map(({ text }) => text)
          .join(""),
      ).not.toContain("\u001B");
    },
  },

  env: {
    says: "gives the program its own provider's secret and no other",
    async run(user) {
      const session = await user.open();
      const { turn, events } = await begin(user, session);
      const environment = readFileSync(`/proc/${processOf(events).pid}/environ`, "utf8").split("\0");
      const names = environment.map((variable) => variable.split("=")[0] ?? "");
      const secrets = Object.keys(SECRETS).filter((name) => names.includes(name));
      expect(secrets.sort()).toEqual([...(user.subject.secrets ?? [])].sort());
      await session.cancel();
      await turn.outcome;
    },
  },
} satisfies Cases;

/** Returns the failure of the start or of the first turn; programs differ in when they report a missing login. */
async function failureOf(user: User): Promise<TurnOutcome> {
  try {
    const session = await user.open();
    return await session.prompt(PROMPTS.hello).outcome;
  } catch (error) {
    if (!isRookeryError(error)) throw error;
    return { status: "failed", code: error.code, message: error.message };
  }
}
