import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeCanary, writeEmbeddedRepository } from "../../../testing/embedded-repository.ts";
import { openScene, type Scene } from "../test-scene.ts";

let scene: Scene;
beforeEach(async () => {
  scene = await openScene();
});
afterEach(() => scene[Symbol.asyncDispose]());

/** Everything that the search tools say of a folder. */
async function searched(path: string): Promise<string> {
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

describe("a repository that is made of ordinary files", () => {
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
      const told = await searched(path);
      expect(told).not.toContain("PRIVATE KEY");
      expect(told).not.toContain(scene.outside);
      expect(told).not.toContain("../");
    }
  });

  it.each(["evil", "evil/.git"])("at %s runs nothing that its configuration names", async (place) => {
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
    for (const path of [".", "evil", ...(place === "evil" ? ["evil/refs"] : [])]) await searched(path);
    expect(existsSync(ran)).toBe(false);
  });
});

it("starts no program, so a git on the PATH is not run either", async () => {
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
