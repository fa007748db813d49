/** Turns the definition of an agent, which a program passed as a value, into its configuration. */
import { resolve } from "node:path";
import type { AgentDefinition, AgentTable } from "../domain/agent-table.ts";
import { RookeryError } from "../domain/errors.ts";
import type { TableServer } from "../domain/mcp-declared.ts";
import { mergeTables, type AgentConfig } from "./agent.ts";
import { confined } from "../stdx/confine.ts";
import { PathRefusal } from "../stdx/path-refusal.ts";
import { isOutside, readTextFile } from "./files.ts";
import type { Config } from "./load.ts";
import { refuseUnknownServer } from "./servers.ts";

/** People and programs write instructions; a larger definition contains something else by mistake. */
const MAX_DEFINITION_BYTES = 1_048_576;

/**
 * Returns the definition as the log keeps it: with the texts of prompt files, and absolute folders. A later change of
 * these files does not change the agent. Rejects with `config_invalid` if a prompt file cannot be read, or with
 * `input_too_large`.
 */
export async function completeDefinition(definition: AgentDefinition, cwd: string): Promise<AgentDefinition> {
  const { name, prompts, folders, ...others } = JSON.parse(JSON.stringify(definition)) as AgentDefinition;
  const texts: { text: string }[] = [];
  for (const prompt of prompts ?? []) {
    texts.push(typeof prompt === "string" ? await readPrompt(prompt, name, cwd) : prompt);
  }
  const complete: AgentDefinition = {
    ...others,
    name,
    ...(prompts !== undefined && { prompts: texts }),
    ...(folders !== undefined && { folders: folders.map((folder) => resolve(cwd, folder)) }),
  };
  const bytes = Buffer.byteLength(JSON.stringify(complete));
  if (bytes <= MAX_DEFINITION_BYTES) return complete;
  throw new RookeryError(
    "input_too_large",
    `${describeDefinition(name)} is ${bytes} bytes long, with the texts of its prompts; at most ${MAX_DEFINITION_BYTES} are kept in the log: shorten its prompts`,
  );
}

/**
 * Returns the configuration of an agent from its complete definition. Nothing is merged into it: neither a section of
 * the same name nor a built-in agent. Throws `config_invalid`, for example if it names an MCP server that is not
 * declared.
 */
export function configureDefinition(definition: AgentDefinition, { mcp: declared }: Pick<Config, "mcp">): AgentConfig {
  const { name, prompts = [], mcp, folders = [], ...table } = definition;
  const file = describeDefinition(name);
  const servers = (mcp ?? []).flatMap((server): TableServer[] => {
    if (typeof server === "string") return [];
    const { name: serverName, ...fields } = server;
    return [{ name: serverName, source: "session", file, table: fields }];
  });
  const names = mcp?.map((server) => (typeof server === "string" ? server : server.name));
  refuseUnknownServer({ file, path: "mcp", names }, [...declared.keys(), ...servers.map((server) => server.name)]);
  const tables: AgentTable[] = [{ ...table, ...(names !== undefined && { mcp: names }) }];
  const texts = prompts.flatMap((prompt) => (typeof prompt === "string" ? [] : [prompt.text]));
  return { ...mergeTables(name, tables, { where: file, prompts: texts, folders, builtIn: false }), servers };
}

/**
 * A path into the working directory must stay there: its files may come from an author who is not trusted, and a
 * symbolic link could name any file of the user.
 */
async function readPrompt(named: string, agent: string, cwd: string): Promise<{ text: string }> {
  const path = resolve(cwd, named);
  try {
    const real = isOutside(path, cwd) ? path : await confined([cwd], path);
    const file = await readTextFile(real);
    if (file !== undefined) return { text: file.text };
  } catch (error) {
    if (!(error instanceof PathRefusal)) throw error;
    throw new RookeryError(
      "config_invalid",
      `${describeDefinition(agent)}: the prompt file cannot be used: ${error.message}`,
    );
  }
  const fix = `prompts that are no files are written as { text: "…" }`;
  throw new RookeryError(
    "config_invalid",
    `${describeDefinition(agent)}: the prompt file ${named} does not exist in ${cwd}; ${fix}`,
  );
}

function describeDefinition(name: string): string {
  return `the definition of agent ${name}`;
}
