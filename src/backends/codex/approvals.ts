/** Converts Codex's approval requests to tool calls that a user can decide about. */
import type { z } from "zod";
import type { ToolStart } from "../program/index.ts";
import { toCommandCall, toItemStart } from "./items.ts";
import type { ChangeApproval, CommandApproval, Elicitation, ItemOf, MorePermissions, ToolItem } from "./wire.ts";

/** Items that have started and not ended, by id. */
export type RunningItems = ReadonlyMap<string, ToolItem>;

export interface ApprovalCall {
  readonly itemId: string;
  readonly call: Omit<ToolStart, "id">;
  readonly why?: string | undefined;
}

export function toCommandApproval(asked: z.infer<typeof CommandApproval>, running: RunningItems): ApprovalCall {
  const { itemId, command, cwd, reason, networkApprovalContext: network } = asked;
  if (network !== undefined && network !== null) {
    const call = { name: "network", title: `Reach ${network.host}`, kind: "fetch", input: network } as const;
    return { itemId: `${itemId}-network`, call };
  }
  const why = reason ?? undefined;
  if (command !== undefined && command !== null) {
    const { input, ...call } = toCommandCall(command, cwd ?? undefined);
    // With the reason, a grant for the same command inside the sandbox does not cover this call.
    return { itemId, call: { ...call, input: why === undefined ? input : { ...input, reason: why } }, why };
  }
  const item = running.get(itemId);
  const unknown = { name: "exec_command", title: "Run a command", kind: "execute", input: {} } as const;
  return { itemId, call: item === undefined ? unknown : toItemStart(item), why };
}

export function toChangeApproval(asked: z.infer<typeof ChangeApproval>, running: RunningItems): ApprovalCall {
  const { itemId, reason, grantRoot } = asked;
  const item = running.get(itemId);
  const unknown = { name: "apply_patch", title: "Edit files", kind: "edit", input: {} } as const;
  const why = grantRoot === undefined || grantRoot === null ? reason : `and all other files in ${grantRoot}`;
  return { itemId, call: item === undefined ? unknown : toItemStart(item), why: why ?? undefined };
}

/** Grants for the turn only; the session itself stores longer grants. */
export function toPermissionApproval({ itemId, reason, permissions }: z.infer<typeof MorePermissions>): ApprovalCall {
  const title = reason ?? "Leave the sandbox";
  return { itemId, call: { name: "request_permissions", title, kind: "other", input: permissions } };
}

/** The request names no call: picks the server's latest call with that input, or its latest call. */
export function toMcpCallApproval(
  { serverName, message }: Elicitation,
  params: unknown,
  running: RunningItems,
): ApprovalCall {
  const calls = [...running.values()].filter(
    (item): item is ItemOf<"mcpToolCall"> => item.type === "mcpToolCall" && item.server === serverName,
  );
  const input = JSON.stringify(params);
  const item = calls.findLast((each) => JSON.stringify(each.arguments) === input) ?? calls.at(-1);
  if (item !== undefined) return { itemId: item.id, call: toItemStart(item) };
  const call = { name: `mcp__${serverName}`, title: message, kind: "other", input: params } as const;
  return { itemId: `${serverName}: ${message}`, call };
}
