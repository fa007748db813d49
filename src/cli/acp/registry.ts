/** `rookery acp registry`: the agents that are known, and the command that starts one of them. */
import { readFile } from "node:fs/promises";
import {
  builtinRegistry,
  parseRegistry,
  resolveLaunch,
  type RegistryIndex,
} from "../../acp/devtools/registry/index.ts";
import { messageOf, RookeryError } from "../../domain/errors.ts";
import type { Call } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { columns } from "../format.ts";
import { print, printJson } from "../io.ts";
import { isSet, textOption } from "../options.ts";
import { oneLine, visible } from "../printable.ts";

export async function registry({ io, args: [id], options }: Call): Promise<ExitCode> {
  const index = await indexOf(textOption(options, "file"));
  const json = isSet(options, "json");
  if (id === undefined) {
    const rows = index.agents.map(({ id, name, version }) => ({ id, name, version }));
    if (json) await printJson(io, { agents: rows });
    else await print(io, columns(rows.map((row) => [row.id, oneLine(row.name), oneLine(row.version)])));
    return EXIT.done;
  }
  const launch = resolveLaunch(index, id);
  if (json) await printJson(io, launch);
  else await print(io, `${[...assignments(launch.env), ...launch.command.map(quoted)].map(visible).join(" ")}\n`);
  return EXIT.done;
}

async function indexOf(file: string | undefined): Promise<RegistryIndex> {
  if (file === undefined) return builtinRegistry();
  try {
    return parseRegistry(JSON.parse(await readFile(file, "utf8")), file);
  } catch (cause) {
    if (cause instanceof RookeryError) throw cause;
    throw new RookeryError("config_invalid", `${file} cannot be read as a registry: ${messageOf(cause)}`, { cause });
  }
}

function assignments(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).map(([name, value]) => `${name}=${quoted(value)}`);
}

/** As a shell takes it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
