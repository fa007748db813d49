/** `/attach`: sends a file with the next prompt. */
import type { Stats } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { basename, extname, resolve } from "node:path";
import { messageOf, RookeryError } from "../../../domain/errors.ts";
import { describeErrno } from "../../errno.ts";
import { usageError } from "../../exit.ts";
import { formatBytes } from "../../format.ts";
import { toSingleLine } from "../../sanitize.ts";
import type { ChatHost } from "../host.ts";

const MAX_ATTACHMENT_BYTES = 10 * 1024 * 1024;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".pdf": "application/pdf",
};

export async function attachFile(chat: ChatHost, typed: string): Promise<void> {
  const name = typed.replace(/^@/, "");
  if (name === "") throw usageError("name a file: /attach screenshot.png");
  const path = resolve(chat.cwd, name);
  const mediaType = MEDIA_TYPES[extname(path).toLowerCase()];
  if (mediaType === undefined) {
    const known = Object.keys(MEDIA_TYPES).join(", ");
    throw usageError(`only ${known} can be attached; name other files with @${toSingleLine(name, 80)} in the prompt`);
  }
  const { size } = await statFile(path, name);
  if (size > MAX_ATTACHMENT_BYTES) {
    const limit = formatBytes(MAX_ATTACHMENT_BYTES);
    throw new RookeryError("input_too_large", `${name} has ${formatBytes(size)}; the limit is ${limit}`);
  }
  const { hash } = await chat.connection.rookery.store.putBlob(await readFile(path));
  chat.connection.attach({ type: "blob", hash, mediaType, name: basename(path) });
  chat.notice(`${name} (${formatBytes(size)}) goes with your next prompt`, "dim");
}

async function statFile(path: string, name: string): Promise<Stats> {
  const stats = await stat(path).catch((cause: unknown) => {
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    const why = isMissing ? "there is no such file" : (describeErrno(cause) ?? messageOf(cause));
    throw new RookeryError("input_invalid", `${toSingleLine(name, 80)} cannot be attached: ${why}`, { cause });
  });
  if (!stats.isFile())
    throw new RookeryError("input_invalid", `${toSingleLine(name, 80)} is not a file: attach one file at a time`);
  return stats;
}
