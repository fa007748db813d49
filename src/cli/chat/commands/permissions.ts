/** `/permissions`: changes the policy, and revokes what was always allowed. */
import { PERMISSION_POLICIES } from "../../../domain/enums.ts";
import { usageError } from "../../exit.ts";
import { toSingleLine } from "../../sanitize.ts";
import type { ChatHost } from "../host.ts";

/** What the command takes: a policy, or `revoke` and a tool. */
export async function listPermissionValues({ connection }: ChatHost): Promise<readonly string[]> {
  return [...PERMISSION_POLICIES, ...(await connection.grants()).map((tool) => `${REVOKE}${tool}`)];
}

/** Lets the person choose if nothing is named. Tools that are always allowed are in the list, to revoke that. */
export async function switchPermissions(chat: ChatHost, named: string): Promise<void> {
  const grants = await chat.connection.grants();
  const name = named === "" ? await choosePermission(chat, grants) : named;
  if (name === undefined) return;
  if (name.startsWith(REVOKE)) return revokeGrant(chat, name.slice(REVOKE.length).trim(), grants);
  const permissions = PERMISSION_POLICIES.find((policy) => policy === name);
  if (permissions === undefined)
    throw usageError(`permissions are one of ${PERMISSION_POLICIES.join(", ")}, or revoke and a tool`);
  await chat.change({ permissions });
}

const REVOKE = "revoke ";

async function choosePermission(chat: ChatHost, grants: readonly string[]): Promise<string | undefined> {
  const current = chat.state.permissions ?? "ask";
  const policies = PERMISSION_POLICIES.map((value) => ({
    value: value,
    label: value,
    detail: POLICY_MEANINGS[value],
    isCurrent: value === current,
  }));
  const revocations = grants.map((tool) => ({
    value: `${REVOKE}${tool}`,
    label: `${REVOKE}${toSingleLine(tool, 60)}`,
    detail: "always allowed in this session; ask again",
  }));
  if (isProgram(chat)) chat.notice(OWN_PERMISSIONS, "dim");
  return (await chat.keys.select("Permissions", [...policies, ...revocations]))?.value;
}

async function revokeGrant(chat: ChatHost, tool: string, grants: readonly string[]): Promise<void> {
  if (!grants.includes(tool)) {
    const known =
      grants.length === 0 ? "no tool is" : `only ${grants.join(", ")} ${grants.length === 1 ? "is" : "are"}`;
    throw usageError(`${tool} is not always allowed in this session; ${known}`);
  }
  await chat.connection.revoke(tool); // the log shows it
}

function isProgram({ state: { backend } }: ChatHost): boolean {
  return backend !== undefined && backend !== "api";
}

const OWN_PERMISSIONS =
  "What the agent's program allows by its own settings, or remembers itself, never asks here and can only be changed there.";

const POLICY_MEANINGS: Record<(typeof PERMISSION_POLICIES)[number], string> = {
  ask: "ask before each change",
  read: "allow only what reads",
  all: "allow everything",
  none: "allow nothing",
};
