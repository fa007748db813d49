/**
 * Stored logins: one encrypted file per server, readable only by the user.
 *
 * The key is in the same folder, so the encryption does not protect against a reader of the user's files; the file
 * modes (0700, 0600) do. It keeps tokens out of disk searches and of backups without the key, and detects a file that
 * was changed or renamed to another server.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { chmodSync } from "node:fs";
import { link, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../domain/errors.ts";
import { makeFolder } from "../../stdx/folder.ts";
import { Grant } from "./grant.ts";

const MAGIC = Buffer.from("rookery1");
const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

export type StoredLogin =
  | { readonly grant: Grant; readonly damage?: undefined }
  /** `damage` says why a stored login cannot be used. */
  | { readonly grant?: undefined; readonly damage?: string };

/** Servers are identified by their canonical URL. */
export interface Vault {
  read(server: string): Promise<StoredLogin>;
  /** Atomic. */
  write(grant: Grant): Promise<void>;
  /** Returns false if there was none. */
  remove(server: string): Promise<boolean>;
  /** Returns a path for another file of this server. */
  path(server: string, suffix: string): string;
}

export function openVault(folder: string): Vault {
  const path = (server: string, suffix: string): string => join(folder, `${digest(server)}.${suffix}`);
  return {
    path,
    async read(server) {
      try {
        const bytes = await readIfPresent(path(server, "login"));
        if (bytes === undefined) return {};
        const key = await readKey(folder);
        if (key === undefined) return { damage: "the key of the saved logins is missing" };
        return { grant: Grant.parse(JSON.parse(decrypt(bytes, key, server))) };
      } catch (error) {
        return { damage: `the saved login cannot be read: ${messageOf(error).slice(0, 200)}` };
      }
    },
    async write(grant) {
      makePrivateFolder(folder);
      const key = (await readKey(folder)) ?? (await makeKey(folder));
      await replace(path(grant.server, "login"), encrypt(JSON.stringify(grant), key, grant.server));
    },
    async remove(server) {
      try {
        await rm(path(server, "login"));
        return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
        throw error;
      }
    },
  };
}

/** Also restricts the mode of a folder that exists already. */
export function makePrivateFolder(folder: string): void {
  makeFolder(folder);
  chmodSync(folder, 0o700);
}

function encrypt(text: string, key: Buffer, server: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(authenticatedData(server));
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([MAGIC, iv, cipher.getAuthTag(), body]);
}

function decrypt(bytes: Buffer, key: Buffer, server: string): string {
  const tagAt = MAGIC.length + IV_BYTES;
  const bodyAt = tagAt + TAG_BYTES;
  if (bytes.length < bodyAt || !bytes.subarray(0, MAGIC.length).equals(MAGIC))
    throw new Error("it is not a login file");
  const iv = bytes.subarray(MAGIC.length, tagAt);
  const decipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: TAG_BYTES });
  decipher.setAAD(authenticatedData(server)).setAuthTag(bytes.subarray(tagAt, bodyAt));
  try {
    return decipher.update(bytes.subarray(bodyAt), undefined, "utf8") + decipher.final("utf8");
  } catch (cause) {
    throw new Error("it was changed, or belongs to another key or server", { cause });
  }
}

function authenticatedData(server: string): Buffer {
  return Buffer.concat([MAGIC, Buffer.from(server)]);
}

async function readKey(folder: string): Promise<Buffer | undefined> {
  const key = await readIfPresent(join(folder, "key"));
  return key?.length === KEY_BYTES ? key : undefined;
}

/**
 * If two processes create a key at the same time, both use the first. A damaged key is replaced, because it decrypts
 * nothing.
 */
async function makeKey(folder: string): Promise<Buffer> {
  const file = join(folder, "key");
  const draft = await writeDraft(file, randomBytes(KEY_BYTES));
  try {
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    if ((await readKey(folder)) === undefined) await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
  const key = await readKey(folder);
  if (key === undefined) throw new Error(`${file} is not a usable key`);
  return key;
}

async function replace(file: string, bytes: Buffer): Promise<void> {
  const draft = await writeDraft(file, bytes);
  try {
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function writeDraft(file: string, bytes: Buffer): Promise<string> {
  const draft = `${file}.${randomBytes(6).toString("hex")}`;
  const handle = await open(draft, "wx", 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  return draft;
}

async function readIfPresent(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function digest(server: string): string {
  return createHash("sha256").update(server).digest("hex").slice(0, 32);
}
