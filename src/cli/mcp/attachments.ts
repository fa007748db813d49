/** Keeps the images and files that a tool returns, and writes them to the folder of --output. */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { BlobPart } from "../../domain/events.ts";
import { messageOf } from "../../domain/errors.ts";
import { usageError } from "../exit.ts";
import type { Io } from "../io.ts";

export interface Attachments {
  readonly keep: (bytes: Uint8Array) => Promise<string>;
  readonly get: (hash: string) => Promise<Uint8Array | undefined>;
  /** Writes the files if --output is set, and returns them with their paths. */
  write(blobs: readonly BlobPart[]): Promise<readonly Attachment[]>;
}

export interface Attachment extends BlobPart {
  readonly bytes: number;
  readonly path?: string;
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/svg+xml": "svg",
  "audio/wav": "wav",
  "audio/mpeg": "mp3",
  "application/json": "json",
  "application/pdf": "pdf",
  "application/gzip": "gz",
  "application/zip": "zip",
  "text/plain": "txt",
};

/** Throws `usage` if the folder cannot be created. The number of files of one call is bounded. */
export function openAttachments(io: Io, folder: string | undefined): Attachments {
  const path = folder === undefined ? undefined : resolve(io.cwd(), folder);
  if (path !== undefined) createFolder(path);
  const kept = new Map<string, Uint8Array>();
  return {
    keep: (bytes) => {
      const hash = createHash("sha256").update(bytes).digest("hex");
      kept.set(hash, bytes);
      return Promise.resolve(hash);
    },
    get: (hash) => Promise.resolve(kept.get(hash)),
    write: (blobs) =>
      Promise.all(
        blobs.map(async (blob): Promise<Attachment> => {
          const bytes = kept.get(blob.hash) ?? new Uint8Array();
          if (path === undefined) return { ...blob, bytes: bytes.length };
          const file = join(path, fileName(blob));
          await writeFile(file, bytes);
          return { ...blob, bytes: bytes.length, path: file };
        }),
      ),
  };
}

/** Names the file after its hash, because names from a server can collide or point elsewhere. */
function fileName({ hash, mediaType }: BlobPart): string {
  const type = mediaType.split(";")[0]?.trim().toLowerCase() ?? "";
  return `${hash.slice(0, 16)}.${Object.hasOwn(EXTENSIONS, type) ? (EXTENSIONS[type] ?? "bin") : "bin"}`;
}

function createFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw usageError(`--output: cannot create ${folder}: ${messageOf(error)}`);
  }
}
