/** Writes a configuration file: only a valid one, in one step, and trusted again if it was trusted before. */
import { randomBytes } from "node:crypto";
import { mkdir, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { EnvironmentVariables } from "../stdx/environment.ts";
import { readTextFile } from "./files.ts";
import { userConfigFile } from "./home.ts";
import { parseConfigFile } from "./repository-files.ts";
import { repositoryRoot } from "./root.ts";
import { trust, trustState } from "./trust.ts";

export interface ConfigLocation {
  readonly cwd: string;
  readonly env: EnvironmentVariables;
  /** The file of the repository, or of the user. */
  readonly scope: "repository" | "user";
}

export async function configPath({ cwd, env, scope }: ConfigLocation): Promise<string> {
  return scope === "user" ? userConfigFile(env) : join(await repositoryRoot(cwd), "rookery.toml");
}

export interface WrittenConfig {
  readonly file: string;
  /** True if the repository has files that the user has not trusted, so that the file is not used yet. */
  readonly needsTrust: boolean;
}

/** Returns the text of the file; empty if it does not exist. */
export async function readConfigText(file: string): Promise<string> {
  return (await readTextFile(file))?.text ?? "";
}

/**
 * Replaces the file. The user wrote it, so a repository that was trusted, or had nothing to trust, is trusted with the
 * new content. Rejects with `config_invalid` and then changes nothing.
 */
export async function writeConfig(location: ConfigLocation, text: string): Promise<WrittenConfig> {
  const file = await configPath(location);
  await parseConfigFile(text, file);
  const { cwd, env, scope } = location;
  const wasTrusted = scope === "repository" && (await trustState(cwd, env)).status !== "untrusted";
  await replaceFile(file, text);
  if (wasTrusted) await trust(cwd, env);
  return { file, needsTrust: scope === "repository" && !wasTrusted };
}

/** Follows a symbolic link, and keeps the mode of the file. */
async function replaceFile(path: string, text: string): Promise<void> {
  const file = await realpath(path).catch(() => path);
  const mode = (await stat(file).catch(() => undefined))?.mode ?? 0o644;
  const draft = `${file}.${randomBytes(6).toString("hex")}`;
  await mkdir(dirname(file), { recursive: true });
  try {
    await writeFile(draft, text, { mode: mode & 0o777, flag: "wx", flush: true });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
