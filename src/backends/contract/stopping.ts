/** The contract of ends: a turn that is interrupted, a program that dies, hangs or is closed, and nothing that stays. */
import { expect, vi } from "vitest";
import { isAlive, processesMarked } from "../../stdx/index.ts";
import type { Cases } from "./cases.ts";
import { all, begin, expectDone, logOf, play, processOf } from "./user.ts";
import { PROMPTS } from "./words.ts";

/** The deadline of a cancel, the ladder behind it, and a slow machine. */
const CANCELLED_MS = 15_000;

export const stopping = {
  interrupt: {
    says: "a turn that is interrupted ends as cancelled, and the next prompt works",
    async run(user) {
      const session = await user.open();
      const { turn, ended } = await begin(user, session);
      await session.cancel();
      expect(await turn.outcome).toEqual({ status: "cancelled" });
      const before = await ended;
      const after = await play(user, session, PROMPTS.hello);
      expectDone(after);
      const isKept = (user.subject.hasProgram ?? true) && user.subject.capabilities.interrupt;
      if (isKept) {
        expect(isAlive(processOf(before))).toBe(true);
        expect(all(after, "process.started")).toEqual([]);
      }
    },
  },

  dies: {
    says: "a program that dies in the middle of a turn fails it in words, and the next prompt works",
    async run(user) {
      const session = await user.open();
      const { turn, events, ended } = await begin(user, session);
      process.kill(-processOf(events).pid, "SIGKILL");
      expect(await turn.outcome).toMatchObject({ status: "failed", code: "agent_exited" });
      const [end] = all(await ended, "turn.ended");
      expect(end?.outcome.status === "failed" ? end.outcome.message : "").toMatch(/SIGKILL|ended|exited|killed|died/);
      const after = await play(user, session, PROMPTS.hello);
      expectDone(after);
      expect(all(after, "process.started").length).toBeGreaterThan(0);
    },
  },

  hangs: {
    says: "a program that does not hear an interrupt is ended within its deadline",
    async run(user) {
      const session = await user.open();
      const { turn, events } = await begin(user, session);
      const started = processOf(events);
      process.kill(-started.pid, "SIGSTOP");
      const since = Date.now();
      await session.cancel();
      expect(await turn.outcome).toEqual({ status: "cancelled" });
      expect(Date.now() - since).toBeLessThan(CANCELLED_MS);
      await vi.waitFor(() => expect(isAlive(started)).toBe(false), { timeout: CANCELLED_MS });
    },
  },

  closed: {
    says: "when a session is closed in the middle of a turn, nothing that it started is left",
    async run(user) {
      const session = await user.open();
      const { turn } = await begin(user, session);
      const { marker } = processOf(await logOf(user, session));
      expect(processesMarked(marker)).not.toEqual([]);
      await session.close();
      expect(processesMarked(marker)).toEqual([]);
      expect(await turn.outcome).toEqual({ status: "cancelled" });
    },
  },
} satisfies Cases;
