import { describe, expect, it } from "vitest";
import { newId, type Store } from "../domain/index.ts";
import { systemClock } from "../stdx/index.ts";
import { answerRequest } from "./answer.ts";
import { closeStored } from "./open.ts";
import { tellStored } from "./tell.ts";
import { DONE, openPlayed, type Play } from "./test-played.ts";

/** The agent says something while a page of the log is read, and faster than that for the first `overtakes` attempts. */
function flooded(store: Store, overtakes: number): Store {
  let left = overtakes;
  const say = async (sessionId: string): Promise<void> => {
    const { head = 0, agent = "" } = (await store.summary(sessionId)) ?? {};
    const event = { type: "message.completed" as const, messageId: newId("msg"), text: "more" };
    const events = [{ ...event, at: new Date().toISOString(), agent }];
    await store.append({ sessionId, id: newId("app"), expectedHead: head, events });
  };
  return new Proxy(store, {
    get(target, name) {
      if (name === "read") {
        return async (query: Parameters<Store["read"]>[0]) => {
          const page = await target.read(query);
          await say(query.sessionId);
          return page;
        };
      }
      if (name === "append") {
        return async (append: Parameters<Store["append"]>[0]) => {
          left -= 1;
          if (left >= 0) await say(append.sessionId);
          return target.append(append);
        };
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

describe("in a log that grows all the time, from outside", () => {
  const asking: Play = async (turn) => {
    const decision = await turn.permit({
      toolId: "t1",
      tool: "t",
      title: "t",
      kind: "other",
      input: {},
      readOnly: false,
    });
    expect(decision).toEqual({ allowed: true });
    return DONE;
  };

  it("an answer gets in, though each page that is read takes longer than the agent needs for its next word", async () => {
    await using scene = await openPlayed(asking);
    const { outcome } = scene.session.prompt("go");
    for await (const { type } of scene.store.follow({ sessionId: scene.session.id, after: 0 })) {
      if (type === "permission.requested") break;
    }
    const answer = { decision: "allow" as const };
    const options = { sessionId: scene.session.id, requestId: "r1", answer, clock: systemClock };
    await answerRequest(flooded(scene.store, 50), options);
    expect(await outcome).toEqual(DONE);
    await expect(answerRequest(scene.store, options)).rejects.toMatchObject({ code: "request_resolved" });
  });

  it("an input and a close get in", async () => {
    await using scene = await openPlayed(() => Promise.resolve(DONE));
    await tellStored(flooded(scene.store, 50), { sessionId: scene.session.id, input: "hi", clock: systemClock });
    const { clock, session } = scene;
    await closeStored({ store: flooded(scene.store, 50), clock, owner: "other", attended: false }, session.id);
    const types = (await scene.events()).map(({ type }) => type);
    expect(types.filter((type) => type === "input.queued" || type === "session.closed")).toHaveLength(2);
  });
});
