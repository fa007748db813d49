/** Creates IDs that sort by creation time, even within one millisecond. */
import { randomBytes } from "node:crypto";

export type IdPrefix = "ses" | "trn" | "msg" | "tool" | "inp" | "app" | "mrg" | "wrk";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const TIME_LENGTH = 10;
const RANDOM_LENGTH = 12;

let lastTime = 0;
let lastRandom: number[] = [];

/**
 * Returns the prefix, `_` and 22 characters: 10 for the time, and 12 random ones that are incremented within one
 * millisecond.
 */
export function newId(prefix: IdPrefix, now: number = Date.now()): string {
  if (now > lastTime) {
    lastTime = now;
    lastRandom = Array.from(randomBytes(RANDOM_LENGTH), (byte) => byte % 32);
    lastRandom[0] = (lastRandom[0] ?? 0) % 16; // leaves room to increment without overflow
  } else {
    increment(lastRandom);
  }
  return `${prefix}_${encodeTime(lastTime)}${lastRandom.map((digit) => ALPHABET[digit]).join("")}`;
}

/**
 * Returns the same ID for the same seed, for things that must be found again. Uses 60 bits of the seed, which is
 * hexadecimal.
 */
export function derivedId(prefix: IdPrefix, time: number, seed: string): string {
  const digits = Array.from(
    { length: RANDOM_LENGTH },
    (_, index) => Number.parseInt(seed.slice(2 * index, 2 * index + 2), 16) % 32,
  );
  return `${prefix}_${encodeTime(time)}${digits.map((digit) => ALPHABET[digit]).join("")}`;
}

/** Returns the creation time of an ID, or undefined if the text is not an ID. */
export function timeOfId(id: string): number | undefined {
  const match = /^[a-z]{3}_([0-9a-hjkmnp-tv-z]{10})[0-9a-hjkmnp-tv-z]{12}$/.exec(id);
  if (match?.[1] === undefined) return undefined;
  return Array.from(match[1]).reduce((time, character) => time * 32 + ALPHABET.indexOf(character), 0);
}

/** The length of `shortId`: 40 random bits. */
export const SHORT_ID_LENGTH = 8;

/**
 * Returns the end of an ID, for people. The beginning is the time, which IDs of the same day share. SQLite computes
 * the same in an index (`store/sqlite/schema.ts`).
 */
export function shortId(id: string): string {
  return id.slice(id.indexOf("_") + 1).slice(-SHORT_ID_LENGTH);
}

function encodeTime(time: number): string {
  let text = "";
  for (let rest = time, length = 0; length < TIME_LENGTH; length += 1, rest = Math.floor(rest / 32)) {
    text = (ALPHABET[rest % 32] ?? "") + text;
  }
  return text;
}

function increment(digits: number[]): void {
  for (let index = digits.length - 1; index >= 0; index -= 1) {
    const next = (digits[index] ?? 0) + 1;
    digits[index] = next % 32;
    if (next < 32) return;
  }
}
