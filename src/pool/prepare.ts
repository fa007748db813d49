/** Prepares the worktree of a claimed task: creates or reuses it, leases its port and runs the setup command. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { leasePort, leaseWorktree, setUpWorktree, type Worktree } from "../worktrees/index.ts";
import { taskVariables } from "../domain/task/values.ts";
import { commandEnvironment } from "./command-environment.ts";
import { openOutputRecorder } from "./output.ts";
import type { PoolParts, TaskRepository } from "./parts.ts";
import { fetchForTask, isOnAnotherHost, takeOverWorktree, withRepair, type TakenOver } from "./remote/take-over.ts";
import type { TaskWriter } from "./task-writer.ts";

export interface PreparedWorktree {
  readonly worktree: Worktree;
  /** Variables of the task, for its agents and commands. */
  readonly env: Readonly<Record<string, string>>;
  /** The snapshot of another host that it was restored from. */
  readonly claimed?: string | undefined;
}

/**
 * Reuses an existing worktree, or restores that of another host. Runs the setup only for a new worktree, or if the old one
 * was deleted. Rejects with `remote_unreachable` if the work of another host cannot be fetched.
 */
export async function prepareWorktree(
  parts: PoolParts,
  writer: TaskWriter,
  { repository, mirror }: TaskRepository,
  signal: AbortSignal,
): Promise<PreparedWorktree> {
  const { id, spec, worktree: last } = writer.state;
  const known = last?.removed === true ? undefined : last;
  const isElsewhere = isOnAnotherHost(writer.state, parts.host);
  if (mirror !== undefined) await fetchForTask({ writer, mirror, signal });
  const context = mirror && { parts, writer, mirror, signal };
  const taken: TakenOver | undefined = context && isElsewhere ? await takeOverWorktree(context) : undefined;
  if (mirror !== undefined && spec.host === parts.host)
    await parts.mirrors?.copyTrust(spec.repository, repository.root);
  const { worktree: settings } = await parts.config(repository.root);
  const isThere = known !== undefined && !isElsewhere && (await isFolder(known.path));
  const branch = known?.branch ?? `${settings.branchPrefix}${id}`;
  const base = known?.baseCommit ?? last?.base ?? spec.base; // a removed worktree was merged, so the task starts from the merged base
  const lease = () => leaseWorktree(repository, { id, branch, base, signal });
  const [worktree, port] = await Promise.all([
    taken?.worktree ?? (context === undefined ? lease() : withRepair(context, lease)),
    settings.port ? leasePort({ folder: portsFolder(parts.home), task: id }) : undefined, // released when the task ends
  ]);
  const made = {
    ...worktree,
    base: known?.base ?? worktree.base,
    baseCommit: known?.baseCommit ?? worktree.baseCommit,
  };
  const env = taskVariables({
    task: id,
    branch: made.branch,
    base: made.base,
    worktree: made.path,
    port: port === undefined ? undefined : String(port),
  });
  const anew = known?.ready !== true || !isThere;
  const setsUp = anew && (settings.setup !== undefined || settings.copy.length > 0);
  if (anew || known.port !== port) {
    const { path, baseCommit } = made;
    const leased = port !== undefined && { port };
    const copied = anew && { copied: [...settings.copy] };
    const where = { ...(parts.host !== undefined && { host: parts.host }), ...(taken && { restored: taken.snapshot }) };
    await writer.write(
      { type: "worktree.made", path, branch, base: made.base, baseCommit, anew, ...copied, ...leased, ...where },
      ...(anew && !setsUp ? [{ type: "worktree.ready" as const, setUp: false }] : []),
    );
  }
  const prepared = { worktree: made, env, claimed: taken?.snapshot };
  if (!setsUp) return prepared;
  await using output = openOutputRecorder(writer, "setup");
  await setUpWorktree(made, repository, {
    copy: settings.copy,
    command: settings.setup,
    timeoutMs: settings.setupTimeout * 1000,
    env: await commandEnvironment(parts, repository.root, env),
    marker: parts.claim(),
    onOutput: (text) => output.add(text),
    signal,
  });
  await output[Symbol.asyncDispose]();
  await writer.write({ type: "worktree.ready", setUp: true });
  return prepared;
}

export function portsFolder(home: string): string {
  return join(home, "ports");
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
