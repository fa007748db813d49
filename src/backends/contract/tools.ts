/** Contract cases about tools: permissions, edits, questions and MCP servers. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { SessionEvent, StdioServerSpec } from "../../domain/index.ts";
import type { Cases } from "./cases.ts";
import { all, expectDone, play } from "./user.ts";
import { BROUGHT, COLOURS, NOTE, PROMPTS, QUESTION, TEXT } from "./words.ts";

const NOTES_SERVER = fileURLToPath(new URL("test-notes-server.mjs", import.meta.url));

export const tools = {
  permission: {
    says: "runs a tool after another client grants the permission",
    async run(user) {
      const session = await user.open();
      const events = await play(user, session, PROMPTS.permission, { decision: "allow" });
      expect(all(events, "permission.requested")).toHaveLength(1);
      expect(all(events, "permission.resolved")).toMatchObject([{ decision: "allow", by: "person" }]);
      const [started, ...more] = all(events, "tool.started");
      expect(more).toEqual([]);
      expect(started).toMatchObject({ kind: "execute" });
      expect(all(events, "tool.ended")).toMatchObject([{ toolId: started?.toolId, outcome: "ok" }]);
      expectDone(events);
      if (user.scene.isReal) expect(existsSync(user.scene.files.made)).toBe(true);
    },
  },

  deny: {
    says: "does not run a denied tool, and the turn completes",
    async run(user) {
      const session = await user.open();
      const events = await play(user, session, PROMPTS.permission, { decision: "deny", message: "not today" });
      expect(all(events, "permission.resolved")).toMatchObject([{ decision: "deny", by: "person" }]);
      const ends = all(events, "tool.ended");
      expect(ends).toMatchObject([{ outcome: "denied" }]);
      expect(ends[0]?.text).toContain("not today");
      expectDone(events);
      expect(existsSync(user.scene.files.made)).toBe(false);
    },
  },

  write: {
    says: "reports an edit with its location and diff",
    async run(user) {
      const { written } = user.scene.files;
      const session = await user.open({ permissions: "all" });
      const events = await play(user, session, PROMPTS.write);
      const [started] = all(events, "tool.started");
      const [ended] = all(events, "tool.ended");
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
    says: "asks the user through the session, and receives the answer",
    async run(user) {
      const session = await user.open({ permissions: "all" });
      const events: SessionEvent[] = [];
      for await (const event of session.prompt(PROMPTS.question)) {
        events.push(event);
        if (event.type !== "question.asked") continue;
        const content = contentFor(event.schema);
        await user.rookery.answer(session.id, event.requestId, { action: "accept", content });
      }
      const asked = all(events, "question.asked");
      expect(asked).toHaveLength(1);
      expect(JSON.stringify(asked)).toContain(QUESTION);
      expect(all(events, "question.answered")).toMatchObject([{ action: "accept", by: "person" }]);
      expectDone(events);
      expect(user.scene.heard()).toContain(COLOURS[1]);
    },
  },

  mcp: {
    says: "asks for permission for a Rookery tool, and logs the call once",
    async run(user) {
      const session = await user.open({ permissions: "ask" });
      const events = await play(user, session, PROMPTS.mcp, { decision: "allow" });
      expect(user.notes).toEqual([{ text: NOTE }]);
      expect(all(events, "permission.requested")).toMatchObject([{ tool: "note" }]);
      expect(noteCalls(events)).toHaveLength(1);
      expect(all(events, "tool.ended")).toMatchObject([{ outcome: "ok" }]);
      expectDone(events);
    },
  },

  brought: {
    says: "uses an MCP server that the client brings",
    async run(user) {
      const file = `${user.scene.files.made}.notes`;
      const session = await user.open({ permissions: "all", mcpServers: [notesServer(file)] });
      const events = await play(user, session, PROMPTS.brought);
      expect(noteCalls(events)).toHaveLength(1);
      expect(all(events, "tool.ended")).toMatchObject([{ outcome: "ok" }]);
      expectDone(events);
      if (user.scene.isReal) expect(await readFile(file, "utf8")).toBe(`${NOTE}\n`);
      else expect(user.scene.heard()).toContain("test-notes-server.mjs");
    },
  },

  mode: {
    says: "edits without asking in a mode that allows edits",
    async run(user) {
      const session = await user.open();
      const events = await play(user, session, PROMPTS.write);
      if (!user.scene.isReal) expect(user.scene.heard()).toContain(user.subject.mode); // a stand-in behaves the same in every mode
      expect(all(events, "permission.requested")).toEqual([]);
      expect(all(events, "tool.ended")).toMatchObject([{ outcome: "ok" }]);
      expectDone(events);
    },
  },
} satisfies Cases;

function notesServer(file: string): StdioServerSpec {
  return { type: "stdio", name: BROUGHT, command: process.execPath, args: [NOTES_SERVER, file], env: {} };
}

function noteCalls(events: readonly SessionEvent[]): SessionEvent[] {
  return all(events, "tool.started").filter(({ name, title }) => /note/i.test(`${name} ${title}`));
}

/** Answers every field of the form with the second color. */
function contentFor(schema: unknown): Record<string, unknown> {
  const { properties = {} } = schema as { properties?: Record<string, { type?: string }> };
  const names = Object.entries(properties).filter(([, { type }]) => type === "string" || type === undefined);
  return Object.fromEntries(
    (names.length > 0 ? names : Object.entries(properties)).map(([name]) => [name, COLOURS[1]]),
  );
}
