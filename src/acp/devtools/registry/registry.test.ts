import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../../testing/repository.ts";
import { builtinRegistry, parseRegistry, resolveLaunch } from "./index.ts";

const linux = { platform: "linux", arch: "x64" };
const binary = { archive: "https://example.invalid/a.tar.gz", cmd: "./bin/agent", args: ["acp"], env: { A: "1" } };

function indexOf(distribution: unknown, id = "one") {
  return parseRegistry({ version: "1", agents: [{ id, name: "One", version: "1.2.3", distribution }] });
}

it.each([
  ["claude-acp", ["npx", "-y", "@agentclientprotocol/claude-agent-acp@0.49.0"], {}],
  ["codex-acp", ["npx", "-y", "@agentclientprotocol/codex-acp@2.6.0"], {}],
  ["gemini", ["npx", "-y", "@google/gemini-cli@0.61.0", "--acp"], { GEMINI_CLI_NO_RELAUNCH: "true" }],
  ["opencode", ["npx", "-y", "opencode-ai@1.18.33", "acp"], {}],
])("resolves the command of %s", (id, command, env) => {
  expect(resolveLaunch(builtinRegistry(), id)).toEqual({ command, env, from: "npx", package: command[2] });
});

it("has no unusable entry in the built-in registry", () => {
  expect(builtinRegistry().unusable).toEqual([]);
});

it.each([
  [{ npx: { package: "p@1", cmd: "run", args: ["x"] } }, ["npx", "-y", "--package", "p@1", "run", "x"]],
  [{ uvx: { package: "p==1", args: ["x"], env: { A: "1" } } }, ["uvx", "p==1", "x"]],
  [{ uvx: { package: "p==1", cmd: "run" } }, ["uvx", "--from", "p==1", "run"]],
  [{ uvx: { package: "u" }, npx: { package: "n" }, binary: { "linux-x86_64": binary } }, ["npx", "-y", "n"]],
])("builds a command from %j", (distribution, command) => {
  expect(resolveLaunch(indexOf(distribution), "one").command).toEqual(command);
});

it("tells which archive to unpack where, and then runs the unpacked program", async () => {
  await using cache = await temporaryFolder();
  const options = { ...linux, cacheDir: cache.path };
  const folder = join(cache.path, "goose", "1.50.1");
  const archive = "https://github.com/block/goose/releases/download/v1.50.1/goose-x86_64-unknown-linux-gnu.tar.bz2";
  expect(() => resolveLaunch(builtinRegistry(), "goose", options)).toThrow(
    `goose 1.50.1 is not installed: download ${archive} (sha256 a5e25bc6d2f950837b579605162e8c84364fce38f74facb5adcb3ff963994d41) and unpack it into ${folder}, so that ${folder}/goose exists`,
  );
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "goose"), "");
  expect(resolveLaunch(builtinRegistry(), "goose", options)).toEqual({
    command: [join(folder, "goose"), "acp"],
    env: {},
    from: "binary",
    archive,
  });
});

it.each([
  ["darwin", "arm64", "darwin-aarch64"],
  ["win32", "x64", "windows-x86_64"],
  ["linux", "riscv64", "linux-riscv64"],
])("names the platform %s %s if there is no build for it", (platform, arch, target) => {
  const index = indexOf({ binary: { "linux-x86_64": binary, "linux-aarch64": binary } });
  expect(() => resolveLaunch(index, "one", { platform, arch })).toThrow(
    `one 1.2.3 has no build for ${target}; it has linux-aarch64, linux-x86_64`,
  );
});

it("refuses a program outside of its archive", async () => {
  await using cache = await temporaryFolder();
  for (const cmd of ["../../../bin/sh", "..", "."]) {
    const index = indexOf({ binary: { "linux-x86_64": { ...binary, cmd } } });
    expect(() => resolveLaunch(index, "one", { ...linux, cacheDir: cache.path })).toThrow("outside of its archive");
  }
});

it("suggests the closest known id for an unknown one", () => {
  expect(() => resolveLaunch(builtinRegistry(), "gemni")).toThrow(
    'there is no agent "gemni" in the registry (did you mean gemini?); it has claude-acp, codex-acp, gemini, goose, opencode',
  );
  expect(() => resolveLaunch(builtinRegistry(), "claude-agent-acp")).toThrow("did you mean claude-acp?");
  expect(() => resolveLaunch(parseRegistry({ version: "1", agents: [] }), "x")).toThrow("it is empty");
  expect(() => resolveLaunch(builtinRegistry(), "zzzzzzzzzzzzzz")).toThrow(
    expect.objectContaining({ code: "agent_unknown" }) as Error,
  );
});

it("reports an unknown kind of distribution", () => {
  expect(() => resolveLaunch(indexOf({ docker: { image: "x" } }), "one")).toThrow("no supported distribution (docker)");
  expect(() => resolveLaunch(indexOf({}), "one")).toThrow("one has no supported distribution");
});

it("keeps unknown fields and skips invalid entries", () => {
  const good = { id: "good", name: "Good", version: "1.0.0", distribution: { npx: { package: "g" } }, preview: {} };
  const index = parseRegistry({
    version: "9.9.9",
    extensions: [],
    agents: [{ id: "bad", name: "Bad" }, "text", { ...good, id: "../up" }, good],
  });
  expect(index.agents).toMatchObject([{ id: "good", preview: {} }]);
  expect(index.unusable.map(({ id }) => id)).toEqual(["bad", "entry 2", "../up"]);
  expect(() => resolveLaunch(index, "bad")).toThrow("the registry's entry for bad cannot be used");
});

it.each([[null], [[]], ["x"], [{}], [{ version: "1" }], [{ version: "1", agents: {} }]])(
  "refuses %j as an index",
  (value) => {
    expect(() => parseRegistry(value, "my-index.json")).toThrow(
      expect.objectContaining({
        code: "config_invalid",
        message: expect.stringContaining("my-index.json is not an agent registry") as string,
      }) as Error,
    );
  },
);
