/** Contract cases about continuing: reopening a session, a lost native session, and forks. */
import { expect } from "vitest";
import type { EventOf, SessionEvent } from "../../domain/index.ts";
import type { Cases } from "./cases.ts";
import { all, expectDone, play, type User } from "./user.ts";
import { PROMPTS } from "./words.ts";

export const goingOn = {
  resume: {
    says: "resumes a reopened session and logs how",
    async run(user) {
      const session = await user.open();
      expectDone(await play(user, session, PROMPTS.hello));
      await session[Symbol.asyncDispose]();
      const told = user.scene.heard().length;
      const again = await user.open({ id: session.id });
      const events = await play(user, again, PROMPTS.again);
      expectDone(events);
      expectHow(user, events, user.subject.capabilities.resume ? ["resumed", "loaded"] : ["handed_over"]);
      expectRemembered(user, told);
    },
  },

  lost: {
    says: "hands the conversation over if the program lost its session, and logs that",
    async run(user) {
      const session = await user.open();
      expectDone(await play(user, session, PROMPTS.hello));
      await session[Symbol.asyncDispose]();
      await user.scene.forget?.();
      const told = user.scene.heard().length;
      const again = await user.open({ id: session.id });
      const events = await play(user, again, PROMPTS.again);
      expectDone(events);
      expect(all(events, "notice").map(({ code }) => code)).toContain("native_session_lost");
      expect(all(events, "agent.connected").map(({ how }) => how)).toContain("handed_over");
      expect(user.scene.heard().slice(told)).toContain(PROMPTS.hello);
    },
  },

  fork: {
    says: "forks a session that knows the conversation and has its own id",
    async run(user) {
      const parent = await user.open();
      expectDone(await play(user, parent, PROMPTS.hello));
      await parent[Symbol.asyncDispose]();
      const told = user.scene.heard().length;
      const fork = await user.open({ id: await user.rookery.forkSession(parent.id) });
      const events = await play(user, fork, PROMPTS.again);
      expectDone(events);
      expectHow(user, events, user.subject.capabilities.fork ? ["forked"] : ["handed_over"]);
      expectRemembered(user, told);
      const [was, is] = [parent.state.nativeId, fork.state.nativeId];
      if (is !== undefined) expect(is).not.toBe(was);
    },
  },
} satisfies Cases;

function expectHow(
  { subject }: User,
  events: readonly SessionEvent[],
  hows: readonly EventOf<"agent.connected">["how"][],
): void {
  if (!(subject.hasProgram ?? true)) return;
  expect(hows).toContain(all(events, "agent.connected")[0]?.how);
}

/** A stand-in that resumes by itself has no model that could receive the conversation. */
function expectRemembered({ scene, subject }: User, told: number): void {
  if (scene.isReal || !subject.capabilities.resume) expect(scene.heard().slice(told)).toContain(PROMPTS.hello);
}
