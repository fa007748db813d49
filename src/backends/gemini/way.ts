/** How Gemini CLI is driven: without asking where nothing has to be asked, over ACP where something may. */
import { RookeryError, type PermissionPolicy } from "../../domain/index.ts";
import type { Start } from "../program/index.ts";

/** What the program calls them. */
export const APPROVALS = ["default", "auto_edit", "yolo", "plan"] as const;
export type Approval = (typeof APPROVALS)[number];

export interface Way {
  readonly approval: Approval;
  /** One process for each turn, which goes on with the session of the one before; else one for all, over ACP. */
  readonly headless: boolean;
}

/** Throws `config_invalid` where the mode is none of the program's. */
export function wayOf({ context, servers }: Pick<Start, "context" | "servers">, permissions: PermissionPolicy): Way {
  const approval = approvalOf(permissions, modeOf(context.agent.mode));
  const asksNothing = approval === "yolo" || approval === "plan";
  // Headless it takes servers from files of the user's and of root's alone (0.61).
  return { approval, headless: asksNothing && servers.length === 0 };
}

/** A mode never allows what the session forbids. */
function approvalOf(permissions: PermissionPolicy, mode: Approval | undefined): Approval {
  if (mode === "plan") return "plan";
  switch (permissions) {
    case "all":
      return "yolo";
    case "ask":
      return mode ?? "default";
    case "read":
    case "none":
      return "default";
  }
}

function modeOf(mode: string | undefined): Approval | undefined {
  if (mode === undefined) return undefined;
  const known = APPROVALS.find((approval) => approval === mode);
  if (known !== undefined) return known;
  throw new RookeryError("config_invalid", `Gemini CLI has no mode "${mode}"; there are: ${APPROVALS.join(", ")}`);
}
