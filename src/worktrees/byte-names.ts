/** File names as git prints them: bytes that need not be UTF-8. */
import { toGitError } from "./failure.ts";
import type { Repository, RepositoryRunOptions } from "./repository.ts";

/** One character per byte (latin1), so different names stay different. Use `displayName` to show one. */
export type ByteName = string;

/** Runs git and splits its `-z` output. Rejects with the same errors as `Repository.git`. */
export async function readNames(
  repository: Repository,
  args: readonly string[],
  run: RepositoryRunOptions = {},
): Promise<readonly ByteName[]> {
  const result = await repository.gitTry(args, run);
  if (result.code !== 0) throw await toGitError(run.cwd ?? repository.root, args, result);
  return splitNames(result.bytes);
}

export function splitNames(bytes: Buffer): readonly ByteName[] {
  return bytes
    .toString("latin1")
    .split("\0")
    .filter((name) => name !== "");
}

/** Joins names for the standard input of a git command with `-z`. */
export function joinNames(names: readonly ByteName[]): Buffer {
  return Buffer.from(names.join("\0"), "latin1");
}

/** Encodes a name that a person wrote. */
export function toByteName(name: string): ByteName {
  return Buffer.from(name).toString("latin1");
}

export function isUtf8Name(name: ByteName): boolean {
  return Buffer.from(displayBytes(name)).equals(Buffer.from(name, "latin1"));
}

/** Quotes a name the way git does if it is not UTF-8: `"caf\351.txt"`. */
export function displayName(name: ByteName): string {
  if (isUtf8Name(name)) return displayBytes(name);
  const escaped = name.replace(/["\\\x00-\x1f\x7f-\xff]/g, (sign) =>
    sign === '"' || sign === "\\" ? `\\${sign}` : `\\${sign.charCodeAt(0).toString(8).padStart(3, "0")}`,
  );
  return `"${escaped}"`;
}

function displayBytes(name: ByteName): string {
  return Buffer.from(name, "latin1").toString("utf8");
}

export function joinByteName(folder: string | Buffer, name: ByteName): Buffer {
  return Buffer.concat([Buffer.from(folder), Buffer.from("/"), Buffer.from(name, "latin1")]);
}
