/** `rookery mcp add` and `rookery mcp remove`: change the declared servers in a configuration file. */
import { readTomlValue, removeTomlValue, setTomlValue, type TomlValue } from "../../config/edit-toml.ts";
import { configPath, readConfigText, writeConfig } from "../../config/write-config.ts";
import { RookeryError } from "../../domain/errors.ts";
import type { CommandCall } from "../command.ts";
import { configLocation, noteTrust } from "../config/config.ts";
import { EXIT, type ExitCode, usageError } from "../exit.ts";
import { print, printJson, withCommandPrefix } from "../io.ts";
import { isSet, listOption, textOption } from "../options.ts";
import { escapeInvisible, toSingleLine } from "../sanitize.ts";
import { splitAssignment } from "../../stdx/split-assignment.ts";

export async function addServerCommand(call: CommandCall): Promise<ExitCode> {
  const { io, options } = call;
  const [name = "", ...words] = call.args.filter((arg) => arg !== undefined);
  const table = parseServer(words, options);
  const location = configLocation(call);
  const text = await readConfigText(await configPath(location));
  if (readTomlValue(text, ["mcp", name]) !== undefined) {
    throw usageError(`${toSingleLine(name, 60)} exists already; remove it first: rookery mcp remove ${name}`);
  }
  const changed = Object.entries(table).reduce(
    (before, [key, value]) => setTomlValue(before, ["mcp", name, key], value),
    text,
  );
  const { file, needsTrust } = await writeConfig(location, changed);
  if (isSet(options, "json")) await printJson(io, { name, file, ...table });
  else
    await print(
      io,
      withCommandPrefix(
        io,
        `added ${toSingleLine(name)} to ${escapeInvisible(file)}; try it: rookery mcp tools ${toSingleLine(name)}\n`,
      ),
    );
  noteTrust(io, needsTrust);
  return EXIT.done;
}

export async function removeServerCommand(call: CommandCall): Promise<ExitCode> {
  const { io, options } = call;
  const [name = ""] = call.args;
  const location = configLocation(call);
  const file = await configPath(location);
  const changed = removeTomlValue(await readConfigText(file), ["mcp", name]);
  if (changed === undefined) {
    const other = location.scope === "user" ? "; --repository removes it from the file of the repository" : "";
    throw new RookeryError("mcp_unknown", `${file} declares no MCP server "${toSingleLine(name, 60)}"${other}`);
  }
  await writeConfig(location, changed);
  if (isSet(options, "json")) await printJson(io, { name, file });
  else await print(io, `removed ${toSingleLine(name)} from ${escapeInvisible(file)}\n`);
  return EXIT.done;
}

/** Either the words of a command, or --url. */
function parseServer(words: readonly string[], options: CommandCall["options"]): Record<string, TomlValue> {
  const url = textOption(options, "url");
  const env = parsePairs("--env", listOption(options, "env"));
  const headers = parsePairs("--header", listOption(options, "header"));
  if ((url === undefined) === (words.length === 0)) {
    throw usageError(
      "name either a command or --url: rookery mcp add NAME -- COMMAND…, or rookery mcp add NAME --url URL",
    );
  }
  if (url !== undefined && !/^https?:\/\//.test(url)) throw usageError("--url must start with http:// or https://");
  return {
    ...(url === undefined ? { command: [...words] } : { url }),
    ...(Object.keys(env).length > 0 && { env }),
    ...(Object.keys(headers).length > 0 && { headers }),
  };
}

function parsePairs(flag: string, pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key, value] = splitAssignment(pair);
      if (value === undefined || key === "")
        throw usageError(`${flag} needs NAME=VALUE, not "${toSingleLine(pair, 60)}"`);
      return [key, value];
    }),
  );
}
