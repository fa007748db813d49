/** Contract cases about stopping: interrupts, crashes, hangs and closed sessions. */
import { expect, vi } from "vitest";
import { isAlive, processesMarked } from "../../stdx/index.ts";
import type { Cases } from "./cases.ts";
import { all, begin, expectDone, logOf, play, processOf } from "./user.ts";
import { PROMPTS } from "./words.ts";

/** The cancel deadline and the escalation after it, with slack for a slow machine. */
const CANCELLED_MS = 15_000;

export const stopping = {
  interrupt: {
    says: "ends an interrupted turn as cancelled, and the next prompt works",
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
    says: "fails the turn with a message if the program dies, and the next prompt works",
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
    says: "kills a program that ignores an interrupt within the deadline",
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
    says: "leaves no process behind when the session is closed during a turn",
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
