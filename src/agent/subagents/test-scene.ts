/** Test fixtures for sub-agents: the parent's first request calls `delegate`, and each child follows its script. */
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

export interface TaskFixture {
  readonly prompt: string;
  readonly title?: string;
  readonly agent?: string;
}

/** A model that gets the prompt "go" delegates; any other prompt belongs to a child. */
export function delegatingScript(
  tasks: readonly TaskFixture[],
  child: (request: ModelRequest) => Reply | Promise<Reply>,
): Script {
  return (request) => {
    if (request.messages[0]?.text !== "go") return child(request);
    return request.toolResults.length === 0 ? call("delegate", { tasks }) : say("All heard.");
  };
}

export const getPrompt = (request: ModelRequest): string => request.messages[0]?.text ?? "";

/** Uses a SQLite file, as in production. */
export async function openSubagentScene(script: Script) {
  const folder = await temporaryFolder();
  const world = await openWorld(script, await openSqliteStore({ path: join(folder.path, "rookery.db") }));
  const own = world.events;
  return {
    ...world,
    lines: async (sessionId: string) => transcript(await own(sessionId)),
    /** In the order of their starts. */
    childrenOf: async (sessionId: string) =>
      (await own(sessionId)).flatMap((event) => (event.type === "subagent.started" ? [event.childSessionId] : [])),
    [Symbol.asyncDispose]: async () => {
      await world[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** The text of the last tool result. */
export function lastToolText(events: readonly SessionEvent[]): string {
  return events.findLast((event) => event.type === "tool.ended")?.text ?? "";
}
