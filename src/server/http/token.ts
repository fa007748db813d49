/** The token that every request carries: made once for a home, for its owner's eyes only. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { linkSync, lstatSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RookeryError } from "../../domain/index.ts";
import { makeFolder } from "../../stdx/index.ts";

const SHORTEST = 16;

/**
 * Two that start at once agree: a file appears whole or not at all, and the first stays. One that others may read is
 * refused rather than repaired, because whoever has read it still has it. Throws `unauthorized`.
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
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error; // another was faster
  } finally {
    rmSync(draft, { force: true });
  }
  return readToken(file) ?? readOrMakeToken(home);
}

/** One that a person chose. Throws `input_invalid`. */
export function checkToken(token: string): string {
  if (token.length >= SHORTEST && /^[\x21-\x7e]+$/.test(token)) return token;
  const fix = `give at least ${SHORTEST} printable characters without spaces, or none: one is made then`;
  throw new RookeryError("input_invalid", `the token is too short, or cannot be sent in a header: ${fix}`);
}

/** Takes the same time whatever is compared, and tells nothing of the length. */
export function isToken(given: string, token: string): boolean {
  return timingSafeEqual(digest(given), digest(token));
}

function readToken(file: string): string | undefined {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  const own = process.getuid?.() ?? stats.uid;
  if (!stats.isFile() || (stats.mode & 0o077) !== 0 || stats.uid !== own) {
    const fix = `remove it (rm ${file}) and start again: a new one is made, and clients need the new one`;
    throw new RookeryError("unauthorized", `${file} can be read or was put there by others, who may know it: ${fix}`);
  }
  const token = readFileSync(file, "utf8").trim();
  if (token.length >= SHORTEST) return token;
  throw new RookeryError("unauthorized", `${file} holds no token: remove it and start again`);
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
