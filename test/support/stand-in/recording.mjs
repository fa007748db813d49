// Reads a recording of a program: its launches, with the input and output of each in order.
import { readFileSync } from "node:fs";

/** The first line describes the recording. A launch starts with its arguments. */
export function readRecording(file) {
  const [head, ...steps] = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
  const launches = [];
  for (const step of steps) {
    if (step.dir === "argv") launches.push({ args: step.args, steps: [] });
    else launches.at(-1).steps.push(step);
  }
  return { head, launches };
}

/** True if the flags are the same at the same positions. Values may differ, including those after an equals sign. */
export function fitsArgs(recorded, actual) {
  return recorded.length === actual.length && recorded.every((word, at) => flagOf(word) === flagOf(actual[at]));
}

function flagOf(word) {
  return word.startsWith("-") ? word.split("=")[0] : "";
}

/** True if both lines are the same kind of message with the same decision. Other fields may differ. */
export function fitsLine(recorded, actual) {
  const [one, other] = [parsed(recorded), parsed(actual)];
  if (one === undefined || other === undefined) return one === other;
  if (!KIND.every((path) => at(one, path) === at(other, path)) || answerOf(one) !== answerOf(other)) return false;
  return isAnswer(one) ? decisionsIn(one).join() === decisionsIn(other).join() : true;
}

/** Fields with a permission decision. A denial must not match the recording of an approval. */
const DECIDES = ["behavior", "decision", "optionId", "outcome", "action"];

function decisionsIn(value) {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    DECIDES.includes(key) && typeof each === "string" ? [each] : decisionsIn(each),
  );
}

function isAnswer(message) {
  return message.type === "control_response" || answerOf(message) !== undefined;
}

/** Fields that distinguish messages, in all recorded protocols. */
const KIND = [["type"], ["method"], ["subtype"], ["request", "subtype"], ["response", "subtype"]];

function answerOf(message) {
  if (message.method !== undefined || message.id === undefined) return undefined;
  return `${JSON.stringify(message.id)} ${message.error === undefined ? "result" : "error"}`;
}

/** Maps recorded values to the values of this run. */
export class Names {
  #texts = new Map();
  #ids = new Map();

  constructor(places) {
    for (const [recorded, actual] of places) this.#texts.set(recorded, actual);
  }

  learnArgs(recorded, actual) {
    recorded.forEach((word, index) => {
      const flag = flagOf(word) === "" ? "" : `${flagOf(word)}=`;
      this.learn(word.slice(flag.length), actual[index].slice(flag.length));
    });
  }

  learn(recorded, actual) {
    const [one, other] = [parsed(recorded), parsed(actual)];
    if (one === undefined || other === undefined) this.#learnText(recorded, actual);
    else this.#walk(one, other);
    if (one?.method !== undefined && one.id !== undefined) this.#ids.set(one.id, other?.id);
  }

  /** Returns the recorded line with the values of this run. */
  told(line) {
    const message = parsed(line);
    if (message === undefined) return this.#text(line);
    const isAnswer = message.method === undefined && this.#ids.has(message.id);
    try {
      const said = this.#value(message);
      return JSON.stringify(isAnswer ? { ...said, id: this.#ids.get(message.id) } : said);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return this.#text(line); // a fuzzed line that is nested too deeply to be walked
    }
  }

  #walk(recorded, actual) {
    if (typeof recorded === "string" && typeof actual === "string") return this.#learnText(recorded, actual);
    if (typeof recorded !== "object" || recorded === null || typeof actual !== "object" || actual === null) return;
    for (const key of Object.keys(recorded)) this.#walk(recorded[key], actual[key]);
  }

  /** Ignores short strings, which are not ids or paths. */
  #learnText(recorded, actual) {
    if (recorded !== actual && recorded.length >= 8) this.#texts.set(recorded, actual);
  }

  #value(value) {
    if (typeof value === "string") return this.#text(value);
    if (Array.isArray(value)) return value.map((each) => this.#value(each));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [this.#text(key), this.#value(each)]));
  }

  #text(text) {
    const whole = this.#texts.get(text);
    if (whole !== undefined) return whole;
    let said = text;
    for (const [recorded, actual] of this.#texts) said = said.replaceAll(recorded, actual);
    return said;
  }
}

/** True if the line is a JSON message, not plain text. */
export function isMessage(line) {
  return parsed(line) !== undefined;
}

function at(value, path) {
  return path.reduce((inner, key) => inner?.[key], value);
}

function parsed(text) {
  if (typeof text !== "string" || !text.trimStart().startsWith("{")) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
