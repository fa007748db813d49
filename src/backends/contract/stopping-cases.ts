/** Contract cases about stopping: interrupts, crashes, hangs and closed sessions. */
import { expect, vi } from "vitest";
import { isAlive, processesMarked } from "../../stdx/index.ts";
import type { Cases } from "./case.ts";
import { eventsOfType, startEndlessTurn, expectDone, readLog, playTurn, lastProcess } from "./user.ts";
import { PROMPTS } from "./prompts.ts";

/** The cancel deadline and the escalation after it, with slack for a slow machine. */
const CANCELLED_MS = 15_000;

export const stoppingCases = {
  interrupt: {
    title: "ends an interrupted turn as cancelled, and the next prompt works",
    async run(user) {
      const session = await user.open();
      const { turn, ended } = await startEndlessTurn(user, session);
      await session.cancel();
      expect(await turn.outcome).toEqual({ status: "cancelled" });
      const before = await ended;
      const after = await playTurn(user, session, PROMPTS.hello);
      expectDone(after);
      const isKept = (user.subject.hasProgram ?? true) && user.subject.capabilities.interrupt;
      if (isKept) {
        expect(isAlive(lastProcess(before))).toBe(true);
        expect(eventsOfType(after, "process.started")).toEqual([]);
      }
    },
  },

  dies: {
    title: "fails the turn with a message if the program dies, and the next prompt works",
    async run(user) {
      const session = await user.open();
      const { turn, events, ended } = await startEndlessTurn(user, session);
      process.kill(-lastProcess(events).pid, "SIGKILL");
      expect(await turn.outcome).toMatchObject({ status: "failed", code: "agent_exited" });
      const [end] = eventsOfType(await ended, "turn.ended");
      expect(end?.outcome.status === "failed" ? end.outcome.message : "").toMatch(/SIGKILL|ended|exited|killed|died/);
      const after = await playTurn(user, session, PROMPTS.hello);
      expectDone(after);
      expect(eventsOfType(after, "process.started").length).toBeGreaterThan(0);
    },
  },

  hangs: {
    title: "kills a program that ignores an interrupt within the deadline",
    async run(user) {
      const session = await user.open();
      const { turn, events } = await startEndlessTurn(user, session);
      const started = lastProcess(events);
      process.kill(-started.pid, "SIGSTOP");
      const since = Date.now();
      await session.cancel();
      expect(await turn.outcome).toEqual({ status: "cancelled" });
      expect(Date.now() - since).toBeLessThan(CANCELLED_MS);
      await vi.waitFor(() => expect(isAlive(started)).toBe(false), { timeout: CANCELLED_MS });
    },
  },

  closed: {
    title: "leaves no process behind when the session is closed during a turn",
    async run(user) {
      const session = await user.open();
      const { turn } = await startEndlessTurn(user, session);
      const { marker } = lastProcess(await readLog(user, session));
      expect(processesMarked(marker)).not.toEqual([]);
      await session.close();
      expect(processesMarked(marker)).toEqual([]);
      expect(await turn.outcome).toEqual({ status: "cancelled" });
    },
  },
} satisfies Cases;
