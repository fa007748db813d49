/** Decides how Gemini CLI runs: headless if nothing needs approval, over ACP otherwise. */
import { RookeryError, type PermissionPolicy } from "../../domain/index.ts";
import type { ProgramStart } from "../program/index.ts";

/** The program's approval modes. */
export const APPROVALS = ["default", "auto_edit", "yolo", "plan"] as const;
export type Approval = (typeof APPROVALS)[number];

export interface DriveMode {
  readonly approval: Approval;
  /** True: one process per turn, which resumes the session. False: one process for all turns, over ACP. */
  readonly headless: boolean;
}

/** Throws `config_invalid` if the program has no such mode. */
export function chooseDriveMode(
  { context, servers }: Pick<ProgramStart, "context" | "servers">,
  permissions: PermissionPolicy,
): DriveMode {
  const approval = chooseApproval(permissions, parseApproval(context.agent.mode));
  const asksNothing = approval === "yolo" || approval === "plan";
  // Headless, it reads MCP servers only from the configuration files of the user and of root (0.61).
  return { approval, headless: asksNothing && servers.length === 0 };
}

/** A mode never allows what the session forbids. */
function chooseApproval(permissions: PermissionPolicy, mode: Approval | undefined): Approval {
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

function parseApproval(mode: string | undefined): Approval | undefined {
  if (mode === undefined) return undefined;
  const known = APPROVALS.find((approval) => approval === mode);
  if (known !== undefined) return known;
  throw new RookeryError("config_invalid", `Gemini CLI has no mode "${mode}"; valid modes: ${APPROVALS.join(", ")}`);
}
