/** Contract cases about limits, logins, noise and secrets. */
import { readFileSync } from "node:fs";
import { expect, vi } from "vitest";
import { isRookeryError, type SessionEvent, type TurnOutcome } from "../../domain/index.ts";
import type { Cases } from "./case.ts";
import { SECRETS } from "./subject.ts";
import { expectGreeting } from "./message-cases.ts";
import { eventsOfType, startEndlessTurn, playTurn, lastProcess, type User } from "./user.ts";
import { PROMPTS } from "./prompts.ts";

export const failureCases = {
  limit: {
    title: "parks the turn at a usage limit until it resets, and lets a client cancel it",
    async run(user) {
      const session = await user.open();
      const turn = session.prompt(PROMPTS.hello);
      const events: SessionEvent[] = [];
      const reading = (async () => {
        for await (const event of turn) events.push(event);
      })();
      await vi.waitFor(() => expect(eventsOfType(events, "turn.parked")).toHaveLength(1), {
        timeout: 20_000,
        interval: 10,
      });
      const [limit] = eventsOfType(events, "limit.reached");
      expect(limit?.message).toMatch(/limit|quota/i);
      expect(limit?.resetsAt).toMatch(/^20\d\d-/);
      await session.cancel();
      await reading;
      expect(await turn.outcome).toEqual({ status: "cancelled" });
    },
  },

  login: {
    title: "fails with instructions if the login is missing",
    async run(user) {
      const failure = await runToFailure(user);
      expect(failure).toMatchObject({ status: "failed", code: "provider_auth" });
      expect(failure.status === "failed" ? failure.message : "").toMatch(/log ?in|login|API_KEY|api key/i);
    },
  },

  noise: {
    title: "ignores noise between the program's lines, and reports dropped output",
    async run(user) {
      const session = await user.open();
      const events = await playTurn(user, session, PROMPTS.hello);
      expectGreeting(user, events);
      const notices = eventsOfType(events, "notice").map(({ message }) => message);
      expect(notices.join("\n")).toContain("xxxxxxxx"); // from the oversized line
      expect(
        eventsOfType(events, "output.text")
          .map(({ text }) => text)
          .join(""),
      ).not.toContain("\u001B");
    },
  },

  env: {
    title: "gives the program its own provider's secret and no other",
    async run(user) {
      const session = await user.open();
      const { turn, events } = await startEndlessTurn(user, session);
      const environment = readFileSync(`/proc/${lastProcess(events).pid}/environ`, "utf8").split("\0");
      const names = environment.map((variable) => variable.split("=")[0] ?? "");
      const secrets = Object.keys(SECRETS).filter((name) => names.includes(name));
      expect(secrets.sort()).toEqual([...(user.subject.secrets ?? [])].sort());
      await session.cancel();
      await turn.outcome;
    },
  },
} satisfies Cases;

/** Returns the failure of the start or of the first turn; programs differ in when they report a missing login. */
async function runToFailure(user: User): Promise<TurnOutcome> {
  try {
    const session = await user.open();
    return await session.prompt(PROMPTS.hello).outcome;
  } catch (error) {
    if (!isRookeryError(error)) throw error;
    return { status: "failed", code: error.code, message: error.message };
  }
}
