import { describe, expect, it } from "vitest";
import { RookeryError, type Append, type Store } from "../domain/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { say } from "../testing/index.ts";
import type { Changes } from "./agent-settings.ts";
import { openScene } from "./test-scene.ts";

const REVIEWER = `
[agents.reviewer]
backend = "api"
model = "anthropic/claude-reviewer"
`;

/** A store that rejects changes of the settings with a full disk, `times` times. */
function refusingChanges(store: Store, times: number): Store {
  let left = times;
  const isChange = ({ events }: Append) => events.some((event) => event.type === "session.opened" && event.reopened);
  const append = (given: Append) => {
    if (!isChange(given) || left === 0) return store.append(given);
    left -= 1;
    return Promise.reject(new RookeryError("store_full", "the disk is full"));
  };
  return { ...store, append, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

describe("a change that cannot be recorded", () => {
  it.each<[string, Changes, string]>([
    ["agent", { agent: "reviewer" }, "claude-reviewer"],
    ["model", { model: "anthropic/claude-y" }, "claude-y"],
  ])("of the %s leaves the settings in the log unchanged and can be retried", async (_, changes, model) => {
    const options = { model: "anthropic/claude-x" };
    await using s = await openScene(() => say("fine"), options, refusingChanges(openMemoryStore(), 1));
    await s.configure(REVIEWER);
    await expect(s.session.change(changes)).rejects.toMatchObject({ code: "store_full" });
    expect(s.session.state).toMatchObject({ agent: "anthropic", model: "anthropic/claude-x" });
    expect(await s.session.prompt("first").outcome).toMatchObject({ status: "done" });
    expect(s.model.requests.at(-1)?.model).toBe("claude-x");
    expect(await s.lines()).toEqual(["opened anthropic", "started first", "says fine", "ended done"]);
    await s.session.change(changes);
    expect(await s.session.prompt("second").outcome).toMatchObject({ status: "done" });
    expect(s.model.requests.at(-1)?.model).toBe(model);
  });
});
