/** Test setup: a session that another process drives, with a scripted agent. */
import { NO_CAPABILITIES, type SessionStore, type TurnContext, type TurnOutcome } from "../../domain/index.ts";
import { createSession, type Session } from "../../session/index.ts";
import { systemClock } from "../../stdx/index.ts";

export function openScriptedSession(
  { store, folder }: { readonly store: SessionStore; readonly folder: string },
  play: (turn: TurnContext) => Promise<TurnOutcome | undefined>,
): Promise<Session> {
  const owner = `${process.pid}.0.elsewhere`;
  const settings = { agent: "a", backend: "acp", model: undefined, cwd: folder, permissions: "ask" } as const;
  const connection = {
    resumesTurns: false,
    capabilities: NO_CAPABILITIES,
    runTurn: async (turn: TurnContext) => (await play(turn)) ?? ({ status: "done" } as const),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return createSession({ store, clock: systemClock, owner, attended: true }, settings, () =>
    Promise.resolve({ settings, connect: () => Promise.resolve(connection) }),
  );
}
