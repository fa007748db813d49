/** Contract cases about continuing: reopening a session, a lost native session, and forks. */
import { expect } from "vitest";
import type { EventOf, SessionEvent } from "../../domain/index.ts";
import type { Cases } from "./case.ts";
import { eventsOfType, expectDone, playTurn, type User } from "./user.ts";
import { PROMPTS } from "./prompts.ts";

export const continuingCases = {
  resume: {
    title: "resumes a reopened session and logs how",
    async run(user) {
      const session = await user.open();
      expectDone(await playTurn(user, session, PROMPTS.hello));
      await session[Symbol.asyncDispose]();
      const alreadyReceived = user.scene.received().length;
      const again = await user.open({ id: session.id });
      const events = await playTurn(user, again, PROMPTS.again);
      expectDone(events);
      expectHow(user, events, user.subject.capabilities.resume ? ["resumed", "loaded"] : ["handed_over"]);
      expectRemembered(user, alreadyReceived);
    },
  },

  lost: {
    title: "hands the conversation over if the program lost its session, and logs that",
    async run(user) {
      const session = await user.open();
      expectDone(await playTurn(user, session, PROMPTS.hello));
      await session[Symbol.asyncDispose]();
      await user.scene.forget?.();
      const alreadyReceived = user.scene.received().length;
      const again = await user.open({ id: session.id });
      const events = await playTurn(user, again, PROMPTS.again);
      expectDone(events);
      expect(eventsOfType(events, "notice").map(({ code }) => code)).toContain("native_session_lost");
      expect(eventsOfType(events, "agent.connected").map(({ how }) => how)).toContain("handed_over");
      expect(user.scene.received().slice(alreadyReceived)).toContain(PROMPTS.hello);
    },
  },

  fork: {
    title: "forks a session that knows the conversation and has its own id",
    async run(user) {
      const parent = await user.open();
      expectDone(await playTurn(user, parent, PROMPTS.hello));
      await parent[Symbol.asyncDispose]();
      const alreadyReceived = user.scene.received().length;
      const fork = await user.open({ id: await user.rookery.forkSession(parent.id) });
      const events = await playTurn(user, fork, PROMPTS.again);
      expectDone(events);
      expectHow(user, events, user.subject.capabilities.fork ? ["forked"] : ["handed_over"]);
      expectRemembered(user, alreadyReceived);
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
  expect(hows).toContain(eventsOfType(events, "agent.connected")[0]?.how);
}

/** A stand-in that resumes by itself has no model that could receive the conversation. */
function expectRemembered({ scene, subject }: User, alreadyReceived: number): void {
  if (scene.isReal || !subject.capabilities.resume)
    expect(scene.received().slice(alreadyReceived)).toContain(PROMPTS.hello);
}
