/** npm warns with EBADENGINE when a package does not support the user's Node. No installed package may cause that. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

interface LockedPackage {
  readonly version?: string;
  readonly dev?: boolean;
  readonly engines?: { readonly node?: string };
}

type Version = readonly [major: number, minor: number, patch: number];

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const lock = JSON.parse(readFileSync(`${ROOT}package-lock.json`, "utf8")) as {
  readonly packages: Readonly<Record<string, LockedPackage>>;
};
const oldest = parseVersion(/^>=(.+)$/.exec(lock.packages[""]?.engines?.node ?? "")?.[1] ?? "");

/** `20` is 20.0.0. */
function parseVersion(text: string): Version {
  const [major, minor = "0", patch = "0"] = text.trim().replace(/^v/, "").split(".");
  if (major === undefined || !/^\d+$/.test(major)) throw new Error(`not a version: ${JSON.stringify(text)}`);
  return [Number(major), Number(minor), Number(patch)];
}

function compareVersions(a: Version, b: Version): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

/** Supports what the lock file has: comparators, `^`, `*`, and alternatives with `||`. Throws for anything else. */
function includesVersion(range: string, version: Version): boolean {
  return range.split("||").some((alternative) =>
    alternative
      .replaceAll(/(>=|<=|<|>|\^)\s+/g, "$1")
      .trim()
      .split(/\s+/)
      .every((comparator) => {
        if (comparator === "*" || comparator === "") return true;
        const [, operator = "", text = ""] = /^(>=|<=|<|>|\^|)(.+)$/.exec(comparator) ?? [];
        const bound = parseVersion(text);
        const difference = compareVersions(version, bound);
        if (operator === ">=") return difference >= 0;
        if (operator === ">") return difference > 0;
        if (operator === "<=") return difference <= 0;
        if (operator === "<") return difference < 0;
        return version[0] === bound[0] && difference >= 0;
      }),
  );
}

it.each([
  [">=18", true],
  [">= 20.19.0", true],
  [">=22.12", false],
  ["^18 || ^20.9.0 || >=22", true],
  ["^20.20.0", false],
  [">=18 <20", false],
  ["*", true],
])("parses the range %s", (range, expected) => {
  expect(includesVersion(range, [20, 19, 0])).toBe(expected);
});

it("installs only packages that support the oldest Node that Rookery supports", () => {
  const unsupported = Object.entries(lock.packages)
    .filter(([, { dev, engines }]) => dev !== true && !includesVersion(engines?.node ?? "*", oldest))
    .map(([path, { version, engines }]) => `${path} ${String(version)} needs Node ${String(engines?.node)}`);
  expect(unsupported).toEqual([]);
});
