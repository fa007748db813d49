/** Describes the content and mode of a file, so that a later change is found even if its times are the same. */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { lstat, open, readlink } from "node:fs/promises";
import { joinByteName, type ByteName } from "./byte-names.ts";
import { ifAbsent } from "./if-absent.ts";

/** How many bytes may still be read. Negative if the files have more. */
export interface ContentBudget {
  bytes: number;
}

export interface DescribeContentOptions {
  /** An earlier description. A file of another size or mode is not read. */
  readonly expected?: string | undefined;
  /** Default: unlimited. */
  readonly budget?: ContentBudget | undefined;
}

const DELETED = "deleted";

/**
 * Does not follow links. Undefined for anything but a file, a symbolic link or a missing file, and for what cannot be read
 * or is replaced meanwhile.
 */
export async function describeContent(
  folder: string,
  name: ByteName,
  options: DescribeContentOptions = {},
): Promise<string | undefined> {
  return readDescription(joinByteName(folder, name), options).catch(() => undefined);
}

async function readDescription(
  path: Buffer,
  { expected, budget }: DescribeContentOptions,
): Promise<string | undefined> {
  const found = await ifAbsent(lstat(path), undefined);
  if (found === undefined) return DELETED;
  if (found.isSymbolicLink()) return `120000 ${hashBytes(await readlink(path, { encoding: "buffer" }))}`;
  if (!found.isFile()) return undefined;
  const start = `${(found.mode & 0o100) === 0 ? "100644" : "100755"} ${found.size}`;
  if (expected !== undefined && !expected.startsWith(`${start} `)) return undefined;
  if (budget !== undefined && (budget.bytes -= found.size) < 0) return undefined;
  return `${start} ${await hashFile(path)}`;
}

function hashBytes(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

async function hashFile(path: Buffer): Promise<string> {
  // A FIFO that replaces the file meanwhile must not block.
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const hash = createHash("sha256");
  for await (const chunk of file.createReadStream({ autoClose: false })) hash.update(chunk as Buffer);
  return hash.digest("hex");
}
