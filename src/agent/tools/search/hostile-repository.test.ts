import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeCanary, writeEmbeddedRepository } from "../../../../test/support/embedded-repository.ts";
import { openScene, type Scene } from "../test-scene.ts";

let scene: Scene;
beforeEach(async () => {
  scene = await openScene();
});
afterEach(() => scene[Symbol.asyncDispose]());

/** Returns all output of the search tools for a directory. */
async function searchEverything(path: string): Promise<string> {
  const all: string[] = [];
  for (const ignored of [false, true]) {
    for (const [name, input] of [
      ["list", { depth: 20 }],
      ["glob", { pattern: "**" }],
      ["glob", { pattern: "**", sort: "newest" }],
      ["grep", { pattern: "." }],
      ["grep", { pattern: "KE[Y]", output: "files" }],
    ] as const) {
      all.push((await scene.run(name, { ...input, path, ignored })).text);
    }
  }
  return all.join("\n");
}

describe("a repository made of ordinary files", () => {
  const inClone = () =>
    execFileSync("git", ["init", "-q", scene.folder], { env: { PATH: process.env["PATH"], HOME: scene.folder } });

  it.each(["evil", "evil/.git", "."])("at %s cannot make the tools show files outside", async (place) => {
    writeFileSync(join(scene.outside, "key"), "PRIVATE KEY\n");
    const outside = relative(scene.at("evil"), join(scene.outside, "key"));
    const names = [outside, `x/../${outside}`, join(scene.outside, "key"), ".git/config"].sort();
    if (place !== ".") inClone();
    mkdirSync(scene.at("evil"));
    const index = names.map((path) => ({ path, mode: 0o100644 }));
    writeEmbeddedRepository(scene.at(place), { config: "\tworktree = .\n", index });
    for (const path of [".", "evil"]) {
      const output = await searchEverything(path);
      expect(output).not.toContain("PRIVATE KEY");
      expect(output).not.toContain(scene.outside);
      expect(output).not.toContain("../");
    }
  });

  it.each(["evil", "evil/.git"])("at %s cannot make the tools run programs from its configuration", async (place) => {
    const [canary, ran] = [join(scene.outside, "canary"), join(scene.outside, "ran")];
    writeCanary(canary, ran);
    inClone();
    mkdirSync(scene.at("evil"));
    const config = `[core]
	fsmonitor = ${canary}
	sparseCheckout = true
	sparseCheckoutCone = true
	sshCommand = ${canary}
	hooksPath = ${scene.outside}
[extensions]
	partialClone = origin
[index]
	sparse = true
[protocol]
	allow = always
[protocol "file"]
	allow = always
[remote "origin"]
	promisor = true
	url = .
	uploadpack = ${canary}
`;
    writeEmbeddedRepository(scene.at(place), { config, index: [{ path: "dir/", mode: 0o040000 }], isSparse: true });
    for (const path of [".", "evil", ...(place === "evil" ? ["evil/refs"] : [])]) await searchEverything(path);
    expect(existsSync(ran)).toBe(false);
  });
});

it("does not run git from the PATH", async () => {
  const [bin, ran] = [join(scene.outside, "bin"), join(scene.outside, "ran")];
  writeCanary(join(bin, "git"), ran);
  await using other = await openScene({ env: { PATH: bin } });
  mkdirSync(other.at(".git"));
  writeFileSync(other.at(".git/HEAD"), "ref: refs/heads/main\n");
  writeFileSync(other.at("a"), "a\n");
  expect((await other.run("list", {})).text).toBe("a");
  expect(existsSync(ran)).toBe(false);
  rmSync(bin, { recursive: true });
});
