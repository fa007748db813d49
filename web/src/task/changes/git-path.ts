/** Reads paths as git prints them: as they are, or in quotes with the escapes of C if they contain special bytes. */

/** Splits `a/old b/new` of a `diff --git` line, and removes the prefixes. */
export function splitGitPaths(names: string): readonly [old: string, path: string] {
  const [first, rest] = readName(names);
  return [removePrefix(first), removePrefix(parseGitPath(rest))];
}

/** Removes `a/` or `b/`. */
export function removePrefix(path: string): string {
  return path.replace(/^("?)[ab]\//, "$1");
}

export function parseGitPath(name: string): string {
  const quoted = QUOTED.exec(name)?.[0];
  return quoted === undefined ? name : unquote(quoted);
}

const QUOTED = /^"(?:[^"\\]|\\.)*"/s;

/** Returns the first of two names, and the text after it. */
function readName(names: string): readonly [name: string, rest: string] {
  const quoted = QUOTED.exec(names)?.[0];
  if (quoted !== undefined) return [unquote(quoted), names.slice(quoted.length + 1)];
  const beforeQuote = names.indexOf(' "');
  if (beforeQuote !== -1 && names.endsWith('"')) return [names.slice(0, beforeQuote), names.slice(beforeQuote + 1)];
  // Names may contain spaces. Without quotes both are the same: git names a moved file in further lines.
  const middle = (names.length - 1) / 2;
  if (names.charAt(middle) === " " && names.slice(2, middle) === names.slice(middle + 3)) {
    return [names.slice(0, middle), names.slice(middle + 1)];
  }
  const space = names.indexOf(" b/");
  return space === -1 ? [names, names] : [names.slice(0, space), names.slice(space + 1)];
}

const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, "\\": 92 };

function unquote(quoted: string): string {
  const inner = quoted.slice(1, -1);
  const bytes: number[] = [];
  for (let at = 0; at < inner.length; at += 1) {
    const unit = inner.charAt(at);
    if (unit !== "\\") {
      const whole = String.fromCodePoint(inner.codePointAt(at) ?? 0);
      bytes.push(...new TextEncoder().encode(whole));
      at += whole.length - 1;
      continue;
    }
    const octal = /^[0-3][0-7]{2}/.exec(inner.slice(at + 1, at + 4))?.[0];
    const escape = inner.charAt(at + 1);
    bytes.push(octal === undefined ? (ESCAPES[escape] ?? escape.charCodeAt(0)) : Number.parseInt(octal, 8));
    at += octal === undefined ? 1 : 3;
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(new Uint8Array(bytes));
  } catch {
    return quoteBytes(bytes); // as the server lists a file whose name is not UTF-8
  }
}

function quoteBytes(bytes: readonly number[]): string {
  const escaped = bytes.map((byte) => {
    const character = String.fromCharCode(byte);
    if (character === '"' || character === "\\") return `\\${character}`;
    return byte < 32 || byte > 126 ? `\\${byte.toString(8).padStart(3, "0")}` : character;
  });
  return `"${escaped.join("")}"`;
}
