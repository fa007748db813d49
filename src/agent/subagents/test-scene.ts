/** The scene of the tests of sub-agents: a parent's first request calls the tool, and each child says what its prompt asks for. */
import { join } from "node:path";
import type { SessionEvent } from "../../domain/index.ts";
import { openWorld } from "../../session/test-scene.ts";
import { openSqliteStore } from "../../store/index.ts";
import {
  call,
  say,
  temporaryFolder,
  transcript,
  type ModelRequest,
  type Reply,
  type Script,
} from "../../testing/index.ts";

export interface Asked {
  readonly prompt: string;
  readonly title?: string;
  readonly agent?: string;
}

/** Whoever is told "go" delegates; whoever is told something else is a child. */
export function family(tasks: readonly Asked[], child: (request: ModelRequest) => Reply | Promise<Reply>): Script {
  return (request) => {
    if (request.messages[0]?.text !== "go") return child(request);
    return request.toolResults.length === 0 ? call("delegate", { tasks }) : say("All heard.");
  };
}

export const promptOf = (request: ModelRequest): string => request.messages[0]?.text ?? "";

/** On a real file, as people have it. */
export async function openFamily(script: Script) {
  const folder = await temporaryFolder();
  const world = await openWorld(script, await openSqliteStore({ path: join(folder.path, "rookery.db") }));
  const own = world.events;
  return {
    ...world,
    lines: async (sessionId: string) => transcript(await own(sessionId)),
    /** In the order in which they were begun. */
    childrenOf: async (sessionId: string) =>
      (await own(sessionId)).flatMap((event) => (event.type === "subagent.started" ? [event.childSessionId] : [])),
    [Symbol.asyncDispose]: async () => {
      await world[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** What the model was told at last that its call came to. */
export function toldIn(events: readonly SessionEvent[]): string {
  return events.findLast((event) => event.type === "tool.ended")?.text ?? "";
}
