/** Contract cases about tools: permissions, edits, questions and MCP servers. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { SessionEvent, StdioServerSpec } from "../../domain/index.ts";
import type { Cases } from "./case.ts";
import { eventsOfType, expectDone, playTurn } from "./user.ts";
import { BROUGHT, COLORS, NOTE, PROMPTS, QUESTION, TEXT } from "./prompts.ts";

const NOTES_SERVER = fileURLToPath(new URL("test-notes-server.mjs", import.meta.url));

export const toolCases = {
  permission: {
    title: "runs a tool after another client grants the permission",
    async run(user) {
      const session = await user.open();
      const events = await playTurn(user, session, PROMPTS.permission, { decision: "allow" });
      expect(eventsOfType(events, "permission.requested")).toHaveLength(1);
      expect(eventsOfType(events, "permission.resolved")).toMatchObject([{ decision: "allow", by: "person" }]);
      const [started, ...more] = eventsOfType(events, "tool.started");
      expect(more).toEqual([]);
      expect(started).toMatchObject({ kind: "execute" });
      expect(eventsOfType(events, "tool.ended")).toMatchObject([{ toolId: started?.toolId, outcome: "ok" }]);
      expectDone(events);
      if (user.scene.isReal) expect(existsSync(user.scene.files.made)).toBe(true);
    },
  },

  deny: {
    title: "does not run a denied tool, and the turn completes",
    async run(user) {
      const session = await user.open();
      const events = await playTurn(user, session, PROMPTS.permission, { decision: "deny", message: "not today" });
      expect(eventsOfType(events, "permission.resolved")).toMatchObject([{ decision: "deny", by: "person" }]);
      const ends = eventsOfType(events, "tool.ended");
      expect(ends).toMatchObject([{ outcome: "denied" }]);
      expect(ends[0]?.text).toContain("not today");
      expectDone(events);
      expect(existsSync(user.scene.files.made)).toBe(false);
    },
  },

  write: {
    title: "reports an edit with its location and diff",
    async run(user) {
      const { written } = user.scene.files;
      const session = await user.open({ permissions: "all" });
      const events = await playTurn(user, session, PROMPTS.write);
      const [started] = eventsOfType(events, "tool.started");
      const [ended] = eventsOfType(events, "tool.ended");
      expect(started).toMatchObject({ kind: "edit" });
      expect(ended).toMatchObject({ outcome: "ok" });
      const places = [...(started?.locations ?? []), ...(ended?.locations ?? [])];
      const inFolder = ({ path }: { path: string }) => resolve(user.scene.cwd, path);
      expect(places.map(inFolder)).toContain(written);
      expect(ended?.diffs?.map(inFolder)).toEqual([written]);
      expect(ended?.diffs).toMatchObject([{ after: TEXT }]);
      expectDone(events);
      if (user.scene.isReal) expect(await readFile(written, "utf8")).toBe(TEXT);
    },
  },

  question: {
    title: "asks the user through the session, and receives the answer",
    async run(user) {
      const session = await user.open({ permissions: "all" });
      const events: SessionEvent[] = [];
      for await (const event of session.prompt(PROMPTS.question)) {
        events.push(event);
        if (event.type !== "question.asked") continue;
        const content = contentFor(event.schema);
        await user.rookery.answer(session.id, event.requestId, { action: "accept", content });
      }
      const asked = eventsOfType(events, "question.asked");
      expect(asked).toHaveLength(1);
      expect(JSON.stringify(asked)).toContain(QUESTION);
      expect(eventsOfType(events, "question.answered")).toMatchObject([{ action: "accept", by: "person" }]);
      expectDone(events);
      expect(user.scene.received()).toContain(COLORS[1]);
    },
  },

  mcp: {
    title: "asks for permission for a Rookery tool, and logs the call once",
    async run(user) {
      const session = await user.open({ permissions: "ask" });
      const events = await playTurn(user, session, PROMPTS.mcp, { decision: "allow" });
      expect(user.notes).toEqual([{ text: NOTE }]);
      expect(eventsOfType(events, "permission.requested")).toMatchObject([{ tool: "note" }]);
      expect(noteCalls(events)).toHaveLength(1);
      expect(eventsOfType(events, "tool.ended")).toMatchObject([{ outcome: "ok" }]);
      expectDone(events);
    },
  },

  brought: {
    title: "uses an MCP server that the client brings",
    async run(user) {
      const file = `${user.scene.files.made}.notes`;
      const session = await user.open({ permissions: "all", mcpServers: [notesServer(file)] });
      const events = await playTurn(user, session, PROMPTS.brought);
      expect(noteCalls(events)).toHaveLength(1);
      expect(eventsOfType(events, "tool.ended")).toMatchObject([{ outcome: "ok" }]);
      expectDone(events);
      if (user.scene.isReal) expect(await readFile(file, "utf8")).toBe(`${NOTE}\n`);
      else expect(user.scene.received()).toContain("test-notes-server.mjs");
    },
  },

  mode: {
    title: "edits without asking in a mode that allows edits",
    async run(user) {
      const session = await user.open();
      const events = await playTurn(user, session, PROMPTS.write);
      if (!user.scene.isReal) expect(user.scene.received()).toContain(user.subject.mode); // a stand-in behaves the same in every mode
      expect(eventsOfType(events, "permission.requested")).toEqual([]);
      expect(eventsOfType(events, "tool.ended")).toMatchObject([{ outcome: "ok" }]);
      expectDone(events);
    },
  },
} satisfies Cases;

function notesServer(file: string): StdioServerSpec {
  return { type: "stdio", name: BROUGHT, command: process.execPath, args: [NOTES_SERVER, file], env: {} };
}

function noteCalls(events: readonly SessionEvent[]): SessionEvent[] {
  return eventsOfType(events, "tool.started").filter(({ name, title }) => /note/i.test(`${name} ${title}`));
}

/** Answers every field of the form with the second color. */
function contentFor(schema: unknown): Record<string, unknown> {
  const { properties = {} } = schema as { properties?: Record<string, { type?: string }> };
  const names = Object.entries(properties).filter(([, { type }]) => type === "string" || type === undefined);
  return Object.fromEntries((names.length > 0 ? names : Object.entries(properties)).map(([name]) => [name, COLORS[1]]));
}
