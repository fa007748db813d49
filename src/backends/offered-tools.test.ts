import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { expect, it, vi } from "vitest";
import type { EventOf, SessionEvent, ToolSource } from "../domain/index.ts";
import { Rookery, type OpenSessionOptions } from "../rookery.ts";
import { deferred, DisposeStack } from "../stdx/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { builtEnvironment, temporaryFolder } from "../testing/index.ts";
import type { Plugin } from "../tools/index.ts";

/** An external program that uses the tools of a session without an agent. */
async function openScene(options: OpenSessionOptions = {}, plugin: Partial<Plugin> = {}) {
  const owned = new DisposeStack();
  const home = owned.use(await temporaryFolder());
  const store = owned.use(openMemoryStore());
  const env = builtEnvironment({ home: home.path });
  const plugins = [() => ({ id: "p", version: "1", ...plugin })];
  const rookery = owned.use(await Rookery.open({ env, cwd: home.path, store, plugins }));
  const session = await rookery.openSession({ agent: "anthropic", toolsOnly: true, ...options });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const server = await (await session.tools.offer()).open();
  await server.connect(ours);
  const program = new Client({ name: "program", version: "1" });
  await program.connect(theirs);
  owned.use({ [Symbol.asyncDispose]: () => program.close() });
  return {
    session,
    program,
    ended: async () => {
      const { events } = await store.read({ sessionId: session.id });
      return events.filter((event: SessionEvent): event is EventOf<"tool.ended"> => event.type === "tool.ended");
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

const COMMAND = { name: "bash", arguments: { command: "true" } };

it("logs a call that a plugin refused", async () => {
  await using s = await openScene({ permissions: "all" }, { beforeCall: () => ({ refuse: "not today" }) });
  expect(await s.program.callTool(COMMAND)).toMatchObject({ isError: true });
  expect(await s.ended()).toMatchObject([{ outcome: "denied", text: "not today" }]);
});

it("withdraws the permission request when the program cancels its call", async () => {
  await using s = await openScene();
  const own = new AbortController();
  const call = s.program.callTool(COMMAND, undefined, { signal: own.signal }).catch((error: unknown) => error);
  await vi.waitFor(() => expect(s.session.state.requests).toHaveLength(1));
  own.abort();
  await call;
  await vi.waitFor(async () => expect(await s.ended()).toMatchObject([{ outcome: "cancelled" }]));
  expect(s.session.state.requests).toEqual([]);
});

it("stops a running call when the session closes, before the session is gone", async () => {
  await using s = await openScene({ permissions: "all" });
  const running = deferred();
  const stopped = vi.fn();
  const source: ToolSource = {
    id: "slow",
    list: () => [{ name: "slow", description: "x", inputSchema: { type: "object" }, kind: "other", readOnly: true }],
    describe: () => ({ title: "slow" }),
    call: async (_, { signal }) => {
      running.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      stopped();
      return { outcome: "cancelled", text: "stopped" };
    },
  };
  s.session.setOverlay({ sources: [source], contributions: [], base: true });
  void s.program.callTool({ name: "slow" }).catch(() => undefined);
  await running.promise;
  await s.session[Symbol.asyncDispose]();
  expect(stopped).toHaveBeenCalled();
  expect(await s.ended()).toMatchObject([{ outcome: "cancelled", text: "stopped" }]);
});
