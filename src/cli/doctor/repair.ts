/** `rookery doctor --repair`: saves the readable part of a damaged log and prints what was saved and lost. */
import { readStoreConfig } from "../../config/store-config.ts";
import { RookeryError } from "../../domain/errors.ts";
import { repairSqliteStore } from "../../store/sqlite/repair.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { print, printJson, printNotice, type Io } from "../io.ts";
import { toSingleLine } from "../sanitize.ts";
import { logPath, MAX_DAMAGES } from "./checks.ts";

export async function repairLog(io: Io, { json }: { readonly json: boolean }): Promise<ExitCode> {
  if ((await readStoreConfig(io.env)) !== undefined) {
    throw new RookeryError(
      "usage",
      "--repair is for the file rookery.db, and the log is in PostgreSQL: restore a backup",
    );
  }
  const path = logPath(io);
  if (!json) printNotice(io, `reading ${path}; this takes a while if it is large…`);
  const { damages, saved, lost, damagedFile } = await repairSqliteStore(path);
  if (json) {
    await printJson(io, { ok: true, repaired: damagedFile !== undefined, damages, saved, lost, damagedFile });
    return EXIT.done;
  }
  if (damagedFile === undefined) {
    await print(io, `${path} is not damaged; nothing was changed\n`);
    return EXIT.done;
  }
  const { sessions, tasks, events, blobs } = saved;
  const lines = [
    ...damages.slice(0, MAX_DAMAGES).map(({ message }) => `found  ${message}`),
    ...countOmitted("found", damages.length),
    `saved  sessions: ${sessions}, tasks: ${tasks}, events: ${events}, attachments: ${blobs}`,
    ...(lost.length === 0 ? ["lost   nothing"] : lost.slice(0, MAX_DAMAGES).map((what) => `lost   ${what}`)),
    ...countOmitted("lost", lost.length),
    `kept   the damaged file is ${damagedFile}; delete it when you no longer need it`,
  ];
  await print(io, lines.map((line) => `${toSingleLine(line)}\n`).join(""));
  return EXIT.done;
}

function countOmitted(word: string, count: number): string[] {
  return count > MAX_DAMAGES ? [`${word.padEnd(5)}  ${count - MAX_DAMAGES} more; --json lists all of them`] : [];
}
