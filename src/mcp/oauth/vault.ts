/**
 * Logins at rest: one encrypted file per server, readable by the user alone.
 *
 * The key lies beside the files, so this is not a defence against who can read the user's files: the modes (0700,
 * 0600) are that. It keeps tokens out of a search over the disk, out of a backup or a copy that leaves the key out,
 * and it notices a file that was changed or given another server's name.
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

export type Kept =
  | { readonly grant: Grant; readonly damage?: undefined }
  /** With `damage` there is something that cannot be used, and why. */
  | { readonly grant?: undefined; readonly damage?: string };

/** Servers are named by their canonical URL. */
export interface Vault {
  read(server: string): Promise<Kept>;
  /** Whole or not at all. */
  write(grant: Grant): Promise<void>;
  /** False where there was nothing. */
  remove(server: string): Promise<boolean>;
  /** Where something beside the login of this server can lie. */
  path(server: string, suffix: string): string;
}

export function openVault(folder: string): Vault {
  const path = (server: string, suffix: string): string => join(folder, `${digest(server)}.${suffix}`);
  return {
    path,
    async read(server) {
      try {
        const bytes = await readIfThere(path(server, "login"));
        if (bytes === undefined) return {};
        const key = await readKey(folder);
        if (key === undefined) return { damage: "the key of the saved logins is gone" };
        return { grant: Grant.parse(JSON.parse(decrypted(bytes, key, server))) };
      } catch (error) {
        return { damage: `the saved login cannot be read: ${messageOf(error).slice(0, 200)}` };
      }
    },
    async write(grant) {
      makePrivate(folder);
      const key = (await readKey(folder)) ?? (await makeKey(folder));
      await replace(path(grant.server, "login"), encrypted(JSON.stringify(grant), key, grant.server));
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

/** Also a folder that was there before, whoever made it wider. */
export function makePrivate(folder: string): void {
  makeFolder(folder);
  chmodSync(folder, 0o700);
}

function encrypted(text: string, key: Buffer, server: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(boundTo(server));
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([MAGIC, iv, cipher.getAuthTag(), body]);
}

function decrypted(bytes: Buffer, key: Buffer, server: string): string {
  const tagAt = MAGIC.length + IV_BYTES;
  const bodyAt = tagAt + TAG_BYTES;
  if (bytes.length < bodyAt || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) throw new Error("it is not one of ours");
  const iv = bytes.subarray(MAGIC.length, tagAt);
  const decipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: TAG_BYTES });
  decipher.setAAD(boundTo(server)).setAuthTag(bytes.subarray(tagAt, bodyAt));
  try {
    return decipher.update(bytes.subarray(bodyAt), undefined, "utf8") + decipher.final("utf8");
  } catch (cause) {
    throw new Error("it was changed, or is of another key or server", { cause });
  }
}

function boundTo(server: string): Buffer {
  return Buffer.concat([MAGIC, Buffer.from(server)]);
}

async function readKey(folder: string): Promise<Buffer | undefined> {
  const key = await readIfThere(join(folder, "key"));
  return key?.length === KEY_BYTES ? key : undefined;
}

/** Of two processes that make one at the same moment, both use the first. A damaged one is replaced: nothing opens with it. */
async function makeKey(folder: string): Promise<Buffer> {
  const file = join(folder, "key");
  const draft = await drafted(file, randomBytes(KEY_BYTES));
  try {
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    if ((await readKey(folder)) === undefined) await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
  const key = await readKey(folder);
  if (key === undefined) throw new Error(`${file} cannot be used`);
  return key;
}

async function replace(file: string, bytes: Buffer): Promise<void> {
  const draft = await drafted(file, bytes);
  try {
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function drafted(file: string, bytes: Buffer): Promise<string> {
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

async function readIfThere(file: string): Promise<Buffer | undefined> {
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
