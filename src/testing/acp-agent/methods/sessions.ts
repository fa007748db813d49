/** Handles the session methods: new, load, resume, fork, list, delete and close. */

import { RPC_ERROR, RpcFailure, type JsonObject } from "../rpc.ts";
import type { ScriptedSession } from "../sessions.ts";
import { requireAuthentication } from "./initialize.ts";
import type { MethodHandler } from "./method.ts";
import { sessionSettings } from "./settings.ts";

const PAGE_SIZE = 50;

export const handleNew: MethodHandler = (params, context) => {
  requireAuthentication(context);
  const session = context.sessions.create(params);
  return { result: { sessionId: session.sessionId, ...sessionSettings(session, context) }, session };
};

export const handleLoad: MethodHandler = (params, context) => {
  requireAuthentication(context);
  const session = context.sessions.get(params["sessionId"]);
  context.sessions.setUp(session, params);
  return { result: sessionSettings(session, context), session, replays: true };
};

export const handleResume: MethodHandler = (params, context) => ({
  ...handleLoad({ mcpServers: [], ...params }, context),
  replays: false,
});

export const handleFork: MethodHandler = (params, context) => {
  requireAuthentication(context);
  const { history } = context.sessions.get(params["sessionId"]);
  const session = context.sessions.create({ mcpServers: [], ...params }, history);
  return { result: { sessionId: session.sessionId, ...sessionSettings(session, context) }, session };
};

export const handleList: MethodHandler = (params, context) => {
  requireAuthentication(context);
  const { pageSize = PAGE_SIZE } = context.script;
  const { cwd } = params;
  const wanted = context.sessions.all().filter((session) => typeof cwd !== "string" || session.cwd === cwd);
  const start = parseCursor(params["cursor"], wanted.length);
  const next = start + pageSize;
  const sessions = wanted.slice(start, next).map(toSessionInfo);
  return { result: { sessions, ...(next < wanted.length && { nextCursor: formatCursor(next) }) } };
};

/** Deleting an unknown session succeeds, as the protocol requires. */
export const handleDelete: MethodHandler = (params, context) => {
  requireAuthentication(context);
  const session = context.sessions.find(params["sessionId"]);
  if (session === undefined) return { result: {} };
  context.sessions.delete(session);
  return { result: {}, waitFor: context.endTurn(session.sessionId) };
};

export const handleClose: MethodHandler = (params, context) => {
  const session = context.sessions.active(params["sessionId"]);
  session.active = false;
  return { result: {}, session, waitFor: context.endTurn(session.sessionId) };
};

function toSessionInfo({ sessionId, cwd, title, updatedAt, additionalDirectories }: ScriptedSession): JsonObject {
  return {
    sessionId,
    cwd,
    ...(title !== undefined && { title }),
    ...(updatedAt !== undefined && { updatedAt }),
    ...(additionalDirectories.length > 0 && { additionalDirectories }),
  };
}

function formatCursor(index: number): string {
  return Buffer.from(`from ${index}`).toString("base64url");
}

function parseCursor(cursor: unknown, length: number): number {
  if (cursor === undefined || cursor === null) return 0;
  const place = typeof cursor === "string" ? Buffer.from(cursor, "base64url").toString() : "";
  const start = Number(/^from (\d+)$/.exec(place)?.[1]);
  if (!(start < length))
    throw new RpcFailure(RPC_ERROR.invalidParams, "the cursor is not valid for this list", { cursor });
  return start;
}
