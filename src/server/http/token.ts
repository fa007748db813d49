/** The bearer token of a home directory. Created once, readable by its owner only. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { linkSync, lstatSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RookeryError } from "../../domain/index.ts";
import { makeFolder } from "../../stdx/index.ts";

const MIN_TOKEN_LENGTH = 16;

/**
 * Reads the token, or creates it. Concurrent callers get the same token, because the file is created atomically.
 * Throws `unauthorized` if other users can read the file. Changing the mode is not enough: they may know the token.
 */
export function readOrMakeToken(home: string): string {
  const file = join(home, "token");
  const found = readToken(file);
  if (found !== undefined) return found;
  makeFolder(home);
  const draft = `${file}.${randomBytes(6).toString("hex")}`;
  writeFileSync(draft, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600, flag: "wx" });
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error; // another process created it first
  } finally {
    rmSync(draft, { force: true });
  }
  return readToken(file) ?? readOrMakeToken(home);
}

/** Validates a token that the user chose. Throws `input_invalid`. */
export function checkToken(token: string): string {
  if (token.length >= MIN_TOKEN_LENGTH && /^[\x21-\x7e]+$/.test(token)) return token;
  const fix = `use at least ${MIN_TOKEN_LENGTH} printable ASCII characters without spaces, or omit it to have one generated`;
  throw new RookeryError(
    "input_invalid",
    `the token is too short or has characters that a header cannot carry: ${fix}`,
  );
}

/** Compares in constant time, so that timing reveals neither the token nor its length. */
export function tokensEqual(sent: string, token: string): boolean {
  return timingSafeEqual(hashToken(sent), hashToken(token));
}

function readToken(file: string): string | undefined {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  const own = process.getuid?.() ?? stats.uid;
  if (!stats.isFile() || (stats.mode & 0o077) !== 0 || stats.uid !== own) {
    const fix = `remove it (rm ${file}) and start again, which creates a new token for all clients`;
    throw new RookeryError("unauthorized", `${file} is not private: other users may know the token; ${fix}`);
  }
  const token = readFileSync(file, "utf8").trim();
  if (token.length >= MIN_TOKEN_LENGTH) return token;
  throw new RookeryError("unauthorized", `${file} holds no valid token: remove it and start again`);
}

function hashToken(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
