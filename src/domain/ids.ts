/** Ids that sort by the time they were made, also within one millisecond. */
import { randomBytes } from "node:crypto";

export type IdPrefix = "ses" | "trn" | "msg" | "tool" | "inp" | "app" | "mrg";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const TIME_LENGTH = 10;
const RANDOM_LENGTH = 12;

let lastTime = 0;
let lastRandom: number[] = [];

/** `ses_` and 22 characters: ten of time, twelve that count up within one millisecond and are random otherwise. */
export function newId(prefix: IdPrefix, now: number = Date.now()): string {
  if (now > lastTime) {
    lastTime = now;
    lastRandom = Array.from(randomBytes(RANDOM_LENGTH), (byte) => byte % 32);
    lastRandom[0] = (lastRandom[0] ?? 0) % 16; // room to count up without overflow
  } else {
    countUp(lastRandom);
  }
  return `${prefix}_${encodeTime(lastTime)}${lastRandom.map((digit) => ALPHABET[digit]).join("")}`;
}

/** The same for the same seed (hexadecimal digits, 60 bits of them are used): for what must be found again by whoever comes to make it. */
export function derivedId(prefix: IdPrefix, time: number, seed: string): string {
  const digits = Array.from(
    { length: RANDOM_LENGTH },
    (_, index) => Number.parseInt(seed.slice(2 * index, 2 * index + 2), 16) % 32,
  );
  return `${prefix}_${encodeTime(time)}${digits.map((digit) => ALPHABET[digit]).join("")}`;
}

/** The time an id was made, or undefined where the text is not an id. */
export function timeOfId(id: string): number | undefined {
  const match = /^[a-z]{3}_([0-9a-hjkmnp-tv-z]{10})[0-9a-hjkmnp-tv-z]{12}$/.exec(id);
  if (match?.[1] === undefined) return undefined;
  return Array.from(match[1]).reduce((time, character) => time * 32 + ALPHABET.indexOf(character), 0);
}

function encodeTime(time: number): string {
  let text = "";
  for (let rest = time, length = 0; length < TIME_LENGTH; length += 1, rest = Math.floor(rest / 32)) {
    text = (ALPHABET[rest % 32] ?? "") + text;
  }
  return text;
}

function countUp(digits: number[]): void {
  for (let index = digits.length - 1; index >= 0; index -= 1) {
    const next = (digits[index] ?? 0) + 1;
    digits[index] = next % 32;
    if (next < 32) return;
  }
}
