/** `rookery task gc`: removes worktrees that are clean, merged and unused, and prints why it keeps the others. */
import { resolve } from "node:path";
import type { CollectReport } from "../../domain/task/view.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { formatBytes, formatColumns } from "../format.ts";
import { print, printJson, terminalWidth } from "../io.ts";
import { isSet, textOption } from "../options.ts";
import { toSingleLine } from "../sanitize.ts";
import { parseSize } from "./amounts.ts";
import type { TaskService } from "./service.ts";
import { withSpinner } from "./progress.ts";

export async function collectTasksCommand({ io, options }: CommandCall, { tasks }: TaskService): Promise<ExitCode> {
  const folder = textOption(options, "cwd");
  const quota = textOption(options, "quota");
  const dryRun = isSet(options, "dryRun");
  const query = {
    dryRun,
    ...(folder !== undefined && { cwd: resolve(io.cwd(), folder) }),
    ...(quota !== undefined && { quota: parseSize(quota) }),
  };
  const label = dryRun ? "checking worktrees" : "checking worktrees and removing unused ones";
  const report = await withSpinner(io, label, () => tasks.collect(query));
  if (isSet(options, "json")) await printJson(io, report);
  else await print(io, formatCollectReport(report, terminalWidth(io.stdout)));
  return EXIT.done;
}

function formatCollectReport({ dryRun, removed, kept, freed, left }: CollectReport, width: number | undefined): string {
  if (removed.length + kept.length === 0) return "no task has a worktree\n";
  const rows = [
    ...removed.map(({ id, path, bytes: size }) => [
      id,
      dryRun ? "would be removed" : "removed",
      formatBytes(size),
      toSingleLine(path),
    ]),
    ...kept.map(({ id, bytes: size, why }) => [id, "kept", formatBytes(size), toSingleLine(why, 120)]),
  ];
  const sum = `${dryRun ? "would free" : "freed"} ${formatBytes(freed)}; ${formatBytes(left)} in use`;
  return `${formatColumns(rows, width)}${sum}${dryRun && removed.length > 0 ? "; nothing was removed" : ""}\n`;
}
