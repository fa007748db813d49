/** `rookery task gc`: removes worktrees that are clean, merged and unused, and says why the others stay. */
import { resolve } from "node:path";
import type { CollectReport } from "../../domain/task/view.ts";
import type { Call } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { bytes, columns } from "../format.ts";
import { print, printJson } from "../io.ts";
import { isSet, textOption } from "../options.ts";
import { oneLine } from "../printable.ts";
import { sizeOf } from "./amounts.ts";
import type { TaskDoor } from "./door.ts";
import { whileShown } from "./shown.ts";

export async function collectTasks({ io, options }: Call, { tasks }: TaskDoor): Promise<ExitCode> {
  const folder = textOption(options, "cwd");
  const quota = textOption(options, "quota");
  const dryRun = isSet(options, "dryRun");
  const query = {
    dryRun,
    ...(folder !== undefined && { cwd: resolve(io.cwd(), folder) }),
    ...(quota !== undefined && { quota: sizeOf(quota) }),
  };
  const label = `looking at the worktrees${dryRun ? "" : ", and removing what is not needed"}`;
  const report = await whileShown(io, label, () => tasks.collect(query));
  if (isSet(options, "json")) await printJson(io, report);
  else await print(io, textOf(report));
  return EXIT.done;
}

function textOf({ dryRun, removed, kept, freed, left }: CollectReport): string {
  if (removed.length + kept.length === 0) return "there are no worktrees of tasks\n";
  const rows = [
    ...removed.map(({ id, path, bytes: size }) => [id, dryRun ? "would go" : "removed", bytes(size), oneLine(path)]),
    ...kept.map(({ id, bytes: size, why }) => [id, "stays", bytes(size), oneLine(why, 120)]),
  ];
  const sum = `${dryRun ? "would free" : "freed"} ${bytes(freed)}; ${bytes(left)} in use`;
  return `${columns(rows)}${sum}${dryRun && removed.length > 0 ? "; nothing was removed" : ""}\n`;
}
