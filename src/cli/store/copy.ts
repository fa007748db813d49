/** `rookery store copy`: copies a store, shows the progress, and prints what was copied. */
import { copyStore, type CopyProgress } from "../../store/copy/copy.ts";
import type { CopiedTable } from "../../store/copy/tables.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { print, printJson, printNotice, type Io } from "../io.ts";
import { isSet, textOption } from "../options.ts";
import { toSingleLine } from "../sanitize.ts";
import { toStoreLocation } from "./location.ts";

/** How often progress is shown, in milliseconds. */
const PROGRESS_MS = 1_000;

const TABLE_NAMES: Record<CopiedTable, string> = {
  task: "tasks",
  session: "sessions",
  event: "events",
  append: "append ids",
  lease: "leases",
  journal: "journal entries",
  blob: "attachments",
  request: "idempotency keys",
  feed: "commits",
};

export async function copyStoreCommand({ io, args, options }: CommandCall): Promise<ExitCode> {
  const [from = "", to = ""] = args;
  const json = isSet(options, "json");
  const report = await copyStore(
    await toStoreLocation(io, from, { schema: textOption(options, "fromSchema"), option: "--from-schema" }),
    await toStoreLocation(io, to, { schema: textOption(options, "toSchema"), option: "--to-schema" }),
    { restart: isSet(options, "restart"), ...(!json && { onProgress: progressPrinter(io) }) },
  );
  if (json) {
    await printJson(io, { ok: true, ...report });
    return EXIT.done;
  }
  const { sessions, tasks, events, blobs, requests, position } = report;
  const lines = [
    `copied    sessions: ${sessions}, tasks: ${tasks}, events: ${events}, attachments: ${blobs}, idempotency keys: ${requests}`,
    `from      ${report.from}`,
    `to        ${report.to}`,
    `verified  every row and every log was read back; the feed ends at position ${position} in both`,
    "next      configure the new store ([store] in rookery.toml, or ROOKERY_STORE_URL) before you start a process",
  ];
  await print(io, lines.map((line) => `${toSingleLine(line)}\n`).join(""));
  return EXIT.done;
}

/** Prints at most one line per second, and none for a short copy. */
function progressPrinter(io: Io): (progress: CopyProgress) => void {
  let last: number | undefined;
  return ({ step, table, rows, total }) => {
    last ??= performance.now();
    if (performance.now() - last < PROGRESS_MS) return;
    last = performance.now();
    printNotice(io, `${step} ${TABLE_NAMES[table]}: ${rows} of ${total}`);
  };
}
