import { expect, it, vi } from "vitest";
import { RookeryError, type Store } from "../domain/index.ts";
import { systemClock } from "../stdx/index.ts";
import { answerRequest } from "./answer.ts";
import type { Answer } from "./method-types.ts";
import { DONE, openScriptedSession, type ScriptedTurn } from "./test-scripted-session.ts";

/**
 * Reports a failure for the append of a request although it is durable, and answers the request before the append is
 * tried again.
 */
function answeredBeforeRetry(answer: Answer, untilApplied: () => Promise<void>): (store: Store) => Store {
  let hasFailed = false;
  return (store) =>
    new Proxy(store, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (name !== "append") return typeof value === "function" ? (value.bind(target) as unknown) : value;
        return async (append: Parameters<Store["append"]>[0]) => {
          const isRequest = append.events.some(({ type }) => /^(permission\.requested|question\.asked)$/.test(type));
          if (!isRequest || hasFailed) return target.append(append);
          hasFailed = true;
          await target.append(append);
          await answerRequest(target, {
            sessionId: append.sessionId,
            requestId: "r1",
            answer,
            clock: systemClock,
          });
          await untilApplied();
          throw new RookeryError("store_unavailable", "the answer of the store was lost");
        };
      },
    });
}

const CASES: readonly (readonly [string, Answer, ScriptedTurn])[] = [
  [
    "permission request",
    { decision: "allow" },
    async (turn) => {
      const request = { toolId: "t1", tool: "bash", title: "ls", kind: "execute", input: {}, readOnly: false } as const;
      expect(await turn.permit(request)).toEqual({ allowed: true });
      return DONE;
    },
  ],
  [
    "question",
    { action: "accept", content: 1 },
    async (turn) => {
      expect(await turn.ask({ message: "How many?" })).toEqual({ action: "accept", content: 1 });
      return DONE;
    },
  ],
];

it.each(CASES)("uses an answer that arrives while its %s is still being recorded", async (_, answer, play) => {
  const untilApplied = () => vi.waitFor(() => expect(scene.session.state.requests[0]?.answer).toBeDefined());
  await using scene = await openScriptedSession(play, { through: answeredBeforeRetry(answer, untilApplied) });
  expect(await scene.session.prompt("go").outcome).toEqual(DONE);
});
