/** `rookery config`: prints and changes configuration values, and opens the file in an editor. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import {
  type TomlValue,
  parseKeyPath,
  parseTomlValue,
  readTomlValue,
  setTomlValue,
  formatTomlValue,
} from "../../config/edit-toml.ts";
import { describeBareKey } from "../../config/parse.ts";
import { configPath, readConfigText, writeConfig, type ConfigLocation } from "../../config/write-config.ts";
import { commandChildEnvironment } from "../../config/own-credentials.ts";
import { RookeryError } from "../../domain/errors.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode, usageError } from "../exit.ts";
import { formatColumns } from "../format.ts";
import { type Io, isPersonPresent, print, printJson, printNotice, printText, terminalWidth } from "../io.ts";
import { isSet } from "../options.ts";
import { escapeInvisible } from "../sanitize.ts";

const SCOPES = ["repository", "user"] as const;

/** The scope of commands that change a file. */
export function configLocation({ io, options }: CommandCall): ConfigLocation {
  return { cwd: io.cwd(), env: io.env, scope: isSet(options, "repository") ? "repository" : "user" };
}

/** Prints the value of the repository, or else of the user. */
export async function getConfigCommand(call: CommandCall): Promise<ExitCode> {
  const { io, options } = call;
  const [named] = call.args;
  if (named === undefined) return listConfig(call);
  const path = parseKeyPath(named);
  for (const scope of SCOPES) {
    const file = await configPath({ ...configLocation(call), scope });
    const value = readTomlValue(await readConfigText(file), path);
    if (value === undefined) continue;
    if (isSet(options, "json")) await printJson(io, { key: named, value, file });
    else await print(io, `${typeof value === "string" ? escapeInvisible(value) : formatTomlValue(value as never)}\n`);
    return EXIT.done;
  }
  if (path.length < 2) throw usageError(describeBareKey(named));
  throw new RookeryError("config_invalid", `${named} is not set; set it with: rookery config set ${named} VALUE`);
}

/** Prints every value that is set, with its file. A value of the repository hides that of the user. */
async function listConfig(call: CommandCall): Promise<ExitCode> {
  const { io, options } = call;
  const rows = new Map<string, { readonly value: TomlValue; readonly file: string }>();
  for (const scope of SCOPES) {
    const file = await configPath({ ...configLocation(call), scope });
    const table = readTomlValue(await readConfigText(file), []) as TomlValue | undefined;
    for (const [key, value] of flattenTable(table ?? {})) if (!rows.has(key)) rows.set(key, { value, file });
  }
  if (isSet(options, "json")) for (const [key, row] of rows) await printJson(io, { key, ...row });
  else if (rows.size === 0) await printText(io, "nothing is set; set a value: rookery config set KEY VALUE\n");
  else {
    const lines = Array.from(rows, ([key, { value, file }]) => [`${key} = ${formatTomlValue(value)}`, file]);
    await print(
      io,
      formatColumns(
        lines.map((row) => row.map(escapeInvisible)),
        terminalWidth(io.stdout),
      ),
    );
  }
  return EXIT.done;
}

/** Keys in the form of `rookery config get`. */
function flattenTable(table: TomlValue, prefix = ""): [string, TomlValue][] {
  if (typeof table !== "object" || Array.isArray(table)) return [[prefix, table]];
  return Object.entries(table as Record<string, TomlValue>).flatMap(([key, value]) => {
    const name = /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
    return flattenTable(value, prefix === "" ? name : `${prefix}.${name}`);
  });
}

export async function setConfigCommand(call: CommandCall): Promise<ExitCode> {
  const { io, options } = call;
  const [named = "", typed = ""] = call.args;
  const location = configLocation(call);
  const path = parseKeyPath(named);
  if (path.length < 2) throw usageError(describeBareKey(named));
  const text = await readConfigText(await configPath(location));
  const value = parseTomlValue(typed);
  const { file, needsTrust } = await writeConfig(location, setTomlValue(text, path, value));
  if (isSet(options, "json")) await printJson(io, { key: named, value, file });
  else await print(io, `${named} = ${escapeInvisible(formatTomlValue(value))} in ${escapeInvisible(file)}\n`);
  noteTrust(io, needsTrust);
  if (location.scope === "user") await noteRepositoryValue(call, named, path);
  return EXIT.done;
}

async function noteRepositoryValue(call: CommandCall, named: string, path: string[]): Promise<void> {
  const file = await configPath({ ...configLocation(call), scope: "repository" });
  const value = readTomlValue(await readConfigText(file), path);
  if (value === undefined) return;
  const text = `${named} = ${formatTomlValue(value as never)}`;
  printNotice(call.io, `${file} has ${text}, which wins in this repository; change that with --repository`);
}

export function noteTrust(io: Io, needsTrust: boolean): void {
  if (needsTrust)
    printNotice(io, "the file is not used until you trust the repository; review it, then run: rookery trust");
}

export async function configPathCommand(call: CommandCall): Promise<ExitCode> {
  const { io, options } = call;
  const rows: string[][] = [];
  for (const scope of SCOPES) {
    const file = await configPath({ ...configLocation(call), scope });
    rows.push([scope, escapeInvisible(file), existsSync(file) ? "" : "(does not exist)"]);
    if (isSet(options, "json")) await printJson(io, { scope, file, exists: existsSync(file) });
  }
  if (!isSet(options, "json")) await print(io, formatColumns(rows));
  return EXIT.done;
}

/** Opens the file in $VISUAL or $EDITOR, and checks it afterwards. */
export async function editConfigCommand(call: CommandCall): Promise<ExitCode> {
  const { io } = call;
  const location = configLocation(call);
  const file = await configPath(location);
  if (!isPersonPresent(io)) throw usageError(`an editor needs a terminal; the file is ${file}`);
  if (!existsSync(file)) await writeConfig(location, "# All keys: docs/configuration.md of Rookery\n");
  const editor = io.env["VISUAL"] || io.env["EDITOR"] || "vi";
  const code = await runEditor(editor, file, io.env);
  if (code !== 0)
    throw new RookeryError("config_invalid", `${editor} ended with exit code ${code}; nothing was checked`);
  const { loadConfig } = await import("../../config/load.ts");
  await loadConfig({ cwd: io.cwd(), env: io.env, trust: "assume" });
  await writeConfig(location, await readConfigText(file));
  await print(io, `${escapeInvisible(file)} is valid\n`);
  return EXIT.done;
}

async function runEditor(editor: string, file: string, personEnv: Io["env"]): Promise<number> {
  const env = await commandChildEnvironment(personEnv);
  return new Promise((resolve, reject) => {
    const child = spawn("sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit", env });
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}
