import { expect, it } from "vitest";
import { NO_CAPABILITIES, type AgentConnection, type TurnContext } from "../domain/index.ts";
import { deferred, DisposeStack, systemClock } from "../stdx/index.ts";
import { openMemoryStore } from "../store/index.ts";
import type { PrepareAgent } from "./session-agent.ts";
import { forkStoredSession } from "./fork.ts";
import { createSession, reopenSession } from "./open.ts";

const SETTINGS = { agent: "robin", backend: "acp", model: undefined, cwd: "/", permissions: "ask" } as const;

/** Sessions of a program with its own IDs; `forks` has the ID that each start was asked to fork. */
async function openScene() {
  const owned = new DisposeStack();
  const store = owned.use(openMemoryStore());
  const forks: (string | undefined)[] = [];
  const held = deferred();
  const connection: AgentConnection = {
    resumesTurns: false,
    capabilities: NO_CAPABILITIES,
    async runTurn({ input, log }: TurnContext) {
      log.record({ type: "agent.connected", nativeId: `native-${forks.length}`, how: "new" });
      await log.commit();
      if (JSON.stringify(input).includes("long")) await held.promise;
      return { status: "done" };
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const prepare: PrepareAgent = (state, { model }) => {
    forks.push(state.forkOf);
    return Promise.resolve({ settings: { ...SETTINGS, model }, connect: () => Promise.resolve(connection) });
  };
  const options = { store, clock: systemClock, owner: `${process.pid}.0.forks`, attended: true };
  const parent = owned.use(await createSession(options, {}, prepare));
  await parent.prompt("one").outcome;
  return {
    parent,
    forks,
    release: () => held.resolve(),
    fork: () => forkStoredSession(options, parent.id, {}),
    open: async (id: string) => owned.use(await reopenSession(options, id, {}, prepare)),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

it("forks the program's session if it has the same turns as the fork", async () => {
  await using s = await openScene();
  await s.open(await s.fork());
  expect(s.forks.at(-1)).toBe("native-1");
});

it("does not fork the program's session if the source has more turns", async () => {
  await using s = await openScene();
  const id = await s.fork();
  await s.parent.prompt("two").outcome;
  await s.open(id);
  expect(s.forks.at(-1)).toBeUndefined();
});

it("does not fork the program's session if the source is in a turn", async () => {
  await using s = await openScene();
  const turn = s.parent.prompt("a long one");
  await expect.poll(() => s.parent.state.turns).toBe(2);
  await s.open(await s.fork());
  expect(s.forks.at(-1)).toBeUndefined();
  s.release();
  await turn.outcome;
});

it("does not fork the program's session if the source continues before the fork changes its model", async () => {
  await using s = await openScene();
  const fork = await s.open(await s.fork());
  await s.parent.prompt("two").outcome;
  await fork.change({ model: "other" });
  expect(s.forks).toEqual([undefined, "native-1", undefined]);
});
