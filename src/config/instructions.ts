/**
 * Reads the instructions that a repository has for agents: `AGENTS.md`, or else `CLAUDE.md` or `GEMINI.md`, in the
 * working directory and its parents. The built-in agent gets only files whose content the user has trusted.
 */
import { relative } from "node:path";
import type { EnvironmentVariables } from "../stdx/environment.ts";
import type { TextFile } from "./files.ts";
import { findInstructionFiles, findNestedInstructions, hashInstructionFiles } from "./instruction-files.ts";
import { locateRepository, realFolder } from "./root.ts";
import { evaluateTrust } from "./trust.ts";

export interface Instructions {
  /** Texts for the system prompt, the outermost directory first. */
  readonly texts: readonly string[];
  /** Paths relative to the checkout that are left out, because the user has not trusted them. */
  readonly untrusted: readonly string[];
}

/** Never rejects because of a file: one that cannot be read is left out. Rejects with `cwd_missing`. */
export async function readInstructions(cwd: string, env: EnvironmentVariables): Promise<Instructions> {
  const location = await locateRepository(cwd);
  const files = await findInstructionFiles(location.checkout, await realFolder(cwd));
  if (files.length === 0) return { texts: [], untrusted: [] };
  const state = await evaluateTrust({ ...location, hashes: hashInstructionFiles(location.checkout, files) }, env);
  const nameOf = ({ path }: TextFile): string => relative(location.checkout, path);
  const isTrusted = (file: TextFile): boolean =>
    state.status === "trusted" ||
    (state.status === "untrusted" && state.changed.length > 0 && !state.changed.includes(nameOf(file)));
  const texts = files.filter(isTrusted).map((file) => `Instructions of ${nameOf(file)}:\n\n${file.text.trim()}`);
  const nested = texts.length === 0 ? [] : await findNestedInstructions(await realFolder(cwd), location.checkout);
  return {
    texts: [...texts, ...(nested.length === 0 ? [] : [formatNested(nested)])],
    untrusted: files.filter((file) => !isTrusted(file)).map(nameOf),
  };
}

function formatNested(paths: readonly string[]): string {
  return `Read these instructions before you work in their directories: ${paths.join(", ")}.`;
}
