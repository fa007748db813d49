/** `/permissions`: changes the policy, and revokes what was always allowed. */
import { formatGrant, type SessionGrant } from "../../../domain/command-prefix.ts";
import { PERMISSION_POLICIES } from "../../../domain/enums.ts";
import { usageError } from "../../exit.ts";
import { toSingleLine } from "../../sanitize.ts";
import type { ChatHost } from "../host.ts";

/** What the command takes: a policy, or `revoke` and a tool or command. */
export async function listPermissionValues({ connection }: ChatHost): Promise<readonly string[]> {
  return [...PERMISSION_POLICIES, ...(await connection.grants()).map((grant) => `${REVOKE}${formatGrant(grant)}`)];
}

/** Lets the person choose if nothing is named. Tools and commands that are always allowed are in the list, to revoke that. */
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

async function choosePermission(chat: ChatHost, grants: readonly SessionGrant[]): Promise<string | undefined> {
  const current = chat.state.permissions ?? "ask";
  const policies = PERMISSION_POLICIES.map((value) => ({
    value: value,
    label: value,
    detail: POLICY_MEANINGS[value],
    isCurrent: value === current,
  }));
  const revocations = grants.map((grant) => ({
    value: `${REVOKE}${formatGrant(grant)}`,
    label: `${REVOKE}${toSingleLine(formatGrant(grant), 60)}`,
    detail: "always allowed in this session; ask again",
  }));
  if (isProgram(chat)) chat.notice(OWN_PERMISSIONS, "dim");
  return (await chat.keys.select("Permissions", [...policies, ...revocations]))?.value;
}

async function revokeGrant(chat: ChatHost, name: string, grants: readonly SessionGrant[]): Promise<void> {
  const grant = grants.find((each) => [formatGrant(each), formatGrant(each).replace(/ …$/, "")].includes(name));
  if (grant === undefined) {
    const names = grants.map(formatGrant).join(", ");
    const known = grants.length === 0 ? "no tool is" : `only ${names} ${grants.length === 1 ? "is" : "are"}`;
    throw usageError(`${name} is not always allowed in this session; ${known}`);
  }
  await chat.connection.revoke(grant); // the log shows it
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
