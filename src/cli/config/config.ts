/** `rookery config`: prints and changes configuration values, and opens the file in an editor. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { parseKeyPath, parseTomlValue, readTomlValue, setTomlValue, formatTomlValue } from "../../config/edit-toml.ts";
import { configPath, readConfigText, writeConfig, type ConfigLocation } from "../../config/write-config.ts";
import { childEnvironment } from "../../domain/child-environment.ts";
import { RookeryError } from "../../domain/errors.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode, usageError } from "../exit.ts";
import { formatColumns } from "../format.ts";
import { type Io, isPersonPresent, print, printJson, printNotice } from "../io.ts";
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
  const [named = ""] = call.args;
  const path = parseKeyPath(named);
  for (const scope of SCOPES) {
    const file = await configPath({ ...configLocation(call), scope });
    const value = readTomlValue(await readConfigText(file), path);
    if (value === undefined) continue;
    if (isSet(options, "json")) await printJson(io, { key: named, value, file });
    else await print(io, `${typeof value === "string" ? escapeInvisible(value) : formatTomlValue(value as never)}\n`);
    return EXIT.done;
  }
  throw new RookeryError("config_invalid", `${named} is not set; set it with: rookery config set ${named} VALUE`);
}

export async function setConfigCommand(call: CommandCall): Promise<ExitCode> {
  const { io, options } = call;
  const [named = "", typed = ""] = call.args;
  const location = configLocation(call);
  const path = parseKeyPath(named);
  if (path.length < 2) throw usageError(`${named} is a table; name a key in it, such as ${named}.KEY`);
  const text = await readConfigText(await configPath(location));
  const value = parseTomlValue(typed);
  const { file, needsTrust } = await writeConfig(location, setTomlValue(text, path, value));
  if (isSet(options, "json")) await printJson(io, { key: named, value, file });
  else await print(io, `${named} = ${escapeInvisible(formatTomlValue(value))} in ${escapeInvisible(file)}\n`);
  noteTrust(io, needsTrust);
  return EXIT.done;
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
  if (!existsSync(file)) await writeConfig(location, "# See docs/configuration.md for all keys.\n");
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

function runEditor(editor: string, file: string, env: Io["env"]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn("sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit", env: childEnvironment(env) });
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}
