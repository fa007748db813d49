/** Contract cases about messages, usage, cost and the model. */
import { expect } from "vitest";
import { splitUsage, type SessionEvent } from "../../domain/index.ts";
import type { Cases } from "./case.ts";
import { eventsOfType, expectDone, playTurn, type User } from "./user.ts";
import { GREETING, PROMPTS } from "./prompts.ts";

export const messageCases = {
  hello: {
    title: "streams a message, completes it, and logs the process before it",
    async run(user) {
      const session = await user.open();
      const events = await playTurn(user, session, PROMPTS.hello);
      expectGreeting(user, events);
      if (!(user.subject.hasProgram ?? true)) return;
      const types = events.map(({ type }) => type);
      expect(eventsOfType(events, "agent.connected")[0]).toMatchObject({ how: "new" });
      const says = user.subject.prints === true ? "output.text" : "message.completed";
      expect(types.indexOf("process.started")).toBeGreaterThan(-1);
      expect(types.indexOf("process.started")).toBeLessThan(types.indexOf(says));
    },
  },

  usage: {
    title: "reports the usage of each turn, not of the whole session",
    async run(user) {
      const session = await user.open();
      const first = sumReportedTokens(await playTurn(user, session, PROMPTS.hello));
      const second = sumReportedTokens(await playTurn(user, session, PROMPTS.again));
      expect(first.output).toBeGreaterThan(0);
      expect(first.input).toBeGreaterThan(0);
      expect(second.output).toBeGreaterThan(0);
      expect(second.output).toBeLessThanOrEqual(first.output); // both turns give the same answer
    },
  },

  cost: {
    title: "reports the cost of a turn as reported by the program",
    async run(user) {
      const session = await user.open();
      const reports = eventsOfType(await playTurn(user, session, PROMPTS.hello), "usage.reported");
      const priced = reports.filter(({ costUsd = 0 }) => costUsd > 0);
      expect(priced).not.toEqual([]);
      expect(new Set(priced.map(({ costBy }) => costBy))).toEqual(new Set(["reported"]));
    },
  },

  model: {
    title: "uses the configured model",
    async run(user) {
      const model = /^model = "(?:[^"]*\/)?([^"/]+)"$/m.exec(user.scene.toml)?.[1] ?? "";
      expect(model, "the scene configures a model").not.toBe("");
      const session = await user.open();
      expectDone(await playTurn(user, session, PROMPTS.hello));
      expect(user.scene.received()).toContain(model);
    },
  },
} satisfies Cases;

/** Checks a turn whose answer is the greeting. */
export function expectGreeting({ subject }: User, events: readonly SessionEvent[]): void {
  if (subject.prints === true) {
    const printed = eventsOfType(events, "output.text").map(({ text }) => text);
    expect(printed.join("")).toContain(GREETING);
    return expectDone(events);
  }
  const said = eventsOfType(events, "message.completed").filter(({ text }) => text.trim() !== "");
  expect(said.map(({ text }) => text.trim())).toEqual([GREETING]);
  if (subject.streams ?? true) {
    const parts = eventsOfType(events, "message.delta").filter(({ messageId }) => messageId === said[0]?.messageId);
    expect(parts.map(({ text }) => text).join("")).toBe(said[0]?.text);
    expect(parts[0]?.seq).toBeLessThan(said[0]?.seq ?? 0);
  }
  expectDone(events);
}

function sumReportedTokens(events: readonly SessionEvent[]): { input: number; output: number } {
  expectDone(events);
  const reports = eventsOfType(events, "usage.reported");
  for (const report of reports) {
    for (const [name, part] of Object.entries(splitUsage(report))) expect(part, name).toBeGreaterThanOrEqual(0);
  }
  return {
    input: reports.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
    output: reports.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
  };
}
