/** Sessions are opened, found again, listed, copied and given up. */

import { CODE, Refusal } from "../rpc.ts";
import type { JsonObject } from "../script.ts";
import type { Session } from "../sessions.ts";
import { admit } from "./introduction.ts";
import type { Method } from "./office.ts";
import { settingsOf } from "./settings.ts";

const PAGE_SIZE = 50;

export const open: Method = (params, office) => {
  admit(office);
  const session = office.sessions.create(params);
  return { result: { sessionId: session.sessionId, ...settingsOf(session, office) }, session };
};

export const load: Method = (params, office) => {
  admit(office);
  const session = office.sessions.get(params["sessionId"]);
  office.sessions.setUp(session, params);
  return { result: settingsOf(session, office), session, replays: true };
};

export const resume: Method = (params, office) => ({
  ...load({ mcpServers: [], ...params }, office),
  replays: false,
});

export const fork: Method = (params, office) => {
  admit(office);
  const { history } = office.sessions.get(params["sessionId"]);
  const session = office.sessions.create({ mcpServers: [], ...params }, history);
  return { result: { sessionId: session.sessionId, ...settingsOf(session, office) }, session };
};

export const list: Method = (params, office) => {
  admit(office);
  const { pageSize = PAGE_SIZE } = office.script;
  const { cwd } = params;
  const wanted = office.sessions.all().filter((session) => typeof cwd !== "string" || session.cwd === cwd);
  const start = startOf(params["cursor"], wanted.length);
  const next = start + pageSize;
  const sessions = wanted.slice(start, next).map(infoOf);
  return { result: { sessions, ...(next < wanted.length && { nextCursor: cursorAt(next) }) } };
};

/** A session that never was is deleted too: the protocol wants no error there. */
export const remove: Method = (params, office) => {
  admit(office);
  const session = office.sessions.find(params["sessionId"]);
  if (session === undefined) return { result: {} };
  office.sessions.delete(session);
  return { result: {}, first: office.endTurn(session.sessionId) };
};

export const close: Method = (params, office) => {
  const session = office.sessions.active(params["sessionId"]);
  session.active = false;
  return { result: {}, session, first: office.endTurn(session.sessionId) };
};

function infoOf({ sessionId, cwd, title, updatedAt, additionalDirectories }: Session): JsonObject {
  return {
    sessionId,
    cwd,
    ...(title !== undefined && { title }),
    ...(updatedAt !== undefined && { updatedAt }),
    ...(additionalDirectories.length > 0 && { additionalDirectories }),
  };
}

function cursorAt(index: number): string {
  return Buffer.from(`from ${index}`).toString("base64url");
}

function startOf(cursor: unknown, length: number): number {
  if (cursor === undefined || cursor === null) return 0;
  const place = typeof cursor === "string" ? Buffer.from(cursor, "base64url").toString() : "";
  const start = Number(/^from (\d+)$/.exec(place)?.[1]);
  if (!(start < length)) throw new Refusal(CODE.invalidParams, "the cursor is not one of this list", { cursor });
  return start;
}
