/** `rookery acp registry`: lists known agents, or prints the command that starts one. */
import { readFile } from "node:fs/promises";
import {
  builtinRegistry,
  parseRegistry,
  resolveLaunch,
  type RegistryIndex,
} from "../../acp/devtools/registry/index.ts";
import { messageOf, RookeryError } from "../../domain/errors.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { formatColumns } from "../format.ts";
import { print, printJson } from "../io.ts";
import { isSet, textOption } from "../options.ts";
import { singleQuote } from "../../stdx/shell-quote.ts";
import { toSingleLine, escapeInvisible } from "../sanitize.ts";

export async function registryCommand({ io, args: [id], options }: CommandCall): Promise<ExitCode> {
  const index = await loadIndex(textOption(options, "file"));
  const json = isSet(options, "json");
  if (id === undefined) {
    const rows = index.agents.map(({ id, name, version }) => ({ id, name, version }));
    if (json) await printJson(io, { agents: rows });
    else await print(io, formatColumns(rows.map((row) => [row.id, toSingleLine(row.name), toSingleLine(row.version)])));
    return EXIT.done;
  }
  const launch = resolveLaunch(index, id);
  if (json) await printJson(io, launch);
  else
    await print(
      io,
      `${[...formatAssignments(launch.env), ...launch.command.map(quoteIfNeeded)].map(escapeInvisible).join(" ")}\n`,
    );
  return EXIT.done;
}

async function loadIndex(file: string | undefined): Promise<RegistryIndex> {
  if (file === undefined) return builtinRegistry();
  try {
    return parseRegistry(JSON.parse(await readFile(file, "utf8")), file);
  } catch (cause) {
    if (cause instanceof RookeryError) throw cause;
    throw new RookeryError("config_invalid", `cannot read ${file} as a registry: ${messageOf(cause)}`, { cause });
  }
}

function formatAssignments(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).map(([name, value]) => `${name}=${quoteIfNeeded(value)}`);
}

/** Quotes a word for a shell if needed. */
function quoteIfNeeded(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : singleQuote(word);
}
