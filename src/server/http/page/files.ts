/** The files of the page, read from the package when they are first requested. */
import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { dirname, extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { findPackageFile } from "../../../stdx/package-file.ts";

export interface PageFile {
  readonly bytes: Buffer;
  readonly gzipped: Buffer | undefined;
  readonly type: string;
  readonly etag: string;
  /** Whether the name contains a hash of the content. */
  readonly isImmutable: boolean;
}

/** By path, such as `/index.html`. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".webmanifest": "application/manifest+json",
};
const MIN_GZIP_BYTES = 1_000;
/** Vite writes it beside the page, not in it. */
const MANIFEST = "web/.vite/manifest.json";

/** Rejects if the package has no page, which means that it was not built. */
export async function readPageFiles(): Promise<PageFiles> {
  const manifest = findPackageFile(MANIFEST);
  if (manifest === undefined) throw new Error("the package has no page (dist/web): build it with npm run build");
  const folder = dirname(dirname(manifest));
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && entry.parentPath !== dirname(manifest))
    .map(({ parentPath, name }) => join(parentPath, name));
  const files = paths.map(async (path): Promise<[string, PageFile]> => {
    const name = `/${relative(folder, path).split(sep).join("/")}`;
    return [name, await toPageFile(name, await readFile(path))];
  });
  return new Map(await Promise.all(files));
}

async function toPageFile(name: string, bytes: Buffer): Promise<PageFile> {
  const isCompressible = bytes.length >= MIN_GZIP_BYTES && extname(name) !== ".png";
  return {
    bytes,
    gzipped: isCompressible ? await promisify(gzip)(bytes, { level: 9 }) : undefined,
    type: TYPES[extname(name)] ?? "application/octet-stream",
    etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`,
    isImmutable: name.startsWith("/assets/"),
  };
}
