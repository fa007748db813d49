import {
  chmodSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { ReadTextFileRequest, WriteTextFileRequest } from "@agentclientprotocol/sdk";
import { afterEach, beforeEach, expect, it } from "vitest";
import { deferred } from "../../stdx/index.ts";
import { temporaryFolder, type TemporaryFolder } from "../../testing/repository.ts";
import { serveFiles, type Gate, type GateRequest } from "./index.ts";

let folder: TemporaryFolder;
let extra: TemporaryFolder;
let outside: TemporaryFolder;
beforeEach(async () => {
  [folder, extra, outside] = await Promise.all([temporaryFolder(), temporaryFolder(), temporaryFolder()]);
  writeFileSync(join(outside.path, "secret"), "secret");
});
afterEach(async () => {
  for (const each of [folder, extra, outside]) await each[Symbol.asyncDispose]();
});

const sessionId = "s1";
const context = { signal: new AbortController().signal };
const at = (name: string) => join(folder.path, name);
const served = (gate?: Gate, maxBytes?: number) => serveFiles({ roots: [folder.path, extra.path], gate, maxBytes });
const read = (path: string, more: Partial<ReadTextFileRequest> = {}, gate?: Gate) =>
  served(gate).readTextFile({ sessionId, path, ...more }, context);
const write = (path: string, content: string, gate?: Gate) =>
  served(gate).writeTextFile({ sessionId, path, content }, context);

it("reads a file in the working directory and in an additional root", async () => {
  writeFileSync(at("a"), "\ufeffone\r\ntwo");
  writeFileSync(join(extra.path, "b"), "");
  expect(await read(at("a"))).toEqual({ content: "\ufeffone\r\ntwo" });
  expect(await read(join(extra.path, "b"))).toEqual({ content: "" });
});

it.each([
  [{}, "1\n2\n3\n4"],
  [{ line: 1 }, "1\n2\n3\n4"],
  [{ line: 0 }, "1\n2\n3\n4"],
  [{ line: null, limit: null }, "1\n2\n3\n4"],
  [{ line: 2 }, "2\n3\n4"],
  [{ line: 2, limit: 2 }, "2\n3\n"],
  [{ limit: 1 }, "1\n"],
  [{ line: 4, limit: 4_294_967_295 }, "4"],
  [{ limit: 0 }, ""],
  [{ line: 5 }, ""],
  [{ line: 4_294_967_295 }, ""],
])("returns the requested lines: %j", async (range, content) => {
  writeFileSync(at("lines"), "1\n2\n3\n4");
  expect(await read(at("lines"), range)).toEqual({ content });
});

it("writes a whole file with its directories and leaves nothing else behind", async () => {
  expect(await write(at("deep/er/new"), "text\n")).toEqual({});
  expect(readFileSync(at("deep/er/new"), "utf8")).toBe("text\n");
  expect(readdirSync(at("deep/er"))).toEqual(["new"]);
});

it("keeps the mode of a replaced file", async () => {
  writeFileSync(at("run.sh"), "old");
  chmodSync(at("run.sh"), 0o755);
  await write(at("run.sh"), "new");
  expect(statSync(at("run.sh")).mode & 0o777).toBe(0o755);
});

it("refuses relative paths, outside paths and links that lead outside, without touching anything", async () => {
  symlinkSync(outside.path, at("out"));
  symlinkSync(join(outside.path, "new"), at("dangling"));
  const paths = ["a", "./a", "", at("../x"), join(outside.path, "secret"), at("out/secret"), at("out/new"), "/a\0b"];
  for (const path of [...paths, at("dangling")]) {
    await expect(read(path), path).rejects.toMatchObject({ code: -32602 });
    await expect(write(path, "x"), path).rejects.toMatchObject({ code: -32602 });
  }
  await expect(read(join(outside.path, "secret"))).rejects.toThrow("outside the working folder");
  await expect(read("a")).rejects.toThrow("path: must be an absolute path");
  expect(readdirSync(outside.path)).toEqual(["secret"]);
});

it.each([
  null,
  "text",
  [],
  {},
  { sessionId: 1, path: "/a" },
  { sessionId: "s" },
  { sessionId: "s", path: "/a", line: -1 },
])("refuses %j as invalid params", async (params: unknown) => {
  const files = served();
  await expect(files.readTextFile(params as ReadTextFileRequest, context)).rejects.toMatchObject({ code: -32602 });
  await expect(files.writeTextFile(params as WriteTextFileRequest, context)).rejects.toMatchObject({ code: -32602 });
});

it("reports missing files, directories, binary files and files that are too large", async () => {
  mkdirSync(at("folder"));
  writeFileSync(at("binary"), Buffer.from([0xff, 0xfe, 0x80]));
  writeFileSync(at("large"), "x".repeat(101));
  execFileSync("mkfifo", [at("fifo")]);
  await expect(read(at("none"))).rejects.toMatchObject({ code: -32002, message: `${at("none")} was not found` });
  await expect(read(at("none/deeper"))).rejects.toMatchObject({ code: -32002 });
  await expect(read(at("large/below"))).rejects.toMatchObject({ code: -32602 });
  await expect(read(at("folder"))).rejects.toMatchObject({ code: -32602, message: "folder is a folder" });
  await expect(read(at("fifo"))).rejects.toMatchObject({ code: -32602, message: "fifo is not a regular file" });
  await expect(read(at("binary"))).rejects.toMatchObject({
    code: -32602,
    message: `${at("binary")} is not UTF-8 text`,
  });
  const small = served(undefined, 100).readTextFile({ sessionId, path: at("large") }, context);
  await expect(small).rejects.toThrow("has 101 bytes, more than the limit of 100");
  await expect(write(at("folder"), "x")).rejects.toThrow();
});

it("asks the gate with the real path and does nothing that it refuses", async () => {
  const asked: GateRequest[] = [];
  const gate: Gate = async (request) => {
    asked.push(request);
    return { allowed: false, message: "not today" };
  };
  writeFileSync(at("real"), "old");
  symlinkSync(at("real"), at("link"));
  const refused = { code: -32603, message: "refused: not today", data: { refused: true } };
  await expect(read(at("link"), { line: 3 }, gate)).rejects.toMatchObject(refused);
  await expect(write(at("link"), "new", gate)).rejects.toMatchObject(refused);
  expect(asked).toMatchObject([
    { kind: "read", title: `read ${at("link")}`, path: at("real"), sessionId, params: { line: 3 } },
    { kind: "edit", title: `write ${at("link")}`, path: at("real"), sessionId, params: { content: "new" } },
  ]);
  expect(readFileSync(at("real"), "utf8")).toBe("old");
});

it("does not ask the gate about paths that it never serves", async () => {
  const gate: Gate = () => Promise.reject(new Error("must not be asked"));
  await expect(read("/etc/passwd", {}, gate)).rejects.toMatchObject({ code: -32602 });
});

it("refuses a file that was replaced while the gate decided", async () => {
  writeFileSync(at("a"), "allowed");
  const gate: Gate = async () => {
    renameSync(at("a"), at("b"));
    symlinkSync(join(extra.path, "other"), at("a"));
    writeFileSync(join(extra.path, "other"), "other");
    return { allowed: true };
  };
  await expect(read(at("a"), {}, gate)).rejects.toThrow("was moved while the permission was checked");
});

it("stops waiting for the gate when the request is cancelled, and writes nothing", async () => {
  const cancel = new AbortController();
  const asked = deferred();
  const gate: Gate = () => {
    asked.resolve();
    return new Promise(() => undefined);
  };
  const writing = served(gate).writeTextFile({ sessionId, path: at("a"), content: "x" }, cancel);
  await asked.promise;
  cancel.abort();
  await expect(writing).rejects.toMatchObject({ code: -32800 });
  expect(readdirSync(folder.path)).toEqual([]);
});

it("runs requests for one file in order without blocking other files", async () => {
  const open = deferred();
  const gate: Gate = async ({ kind, path }) => {
    if (kind === "edit" && path === at("slow")) await open.promise;
    return { allowed: true };
  };
  writeFileSync(at("other"), "other");
  const files = served(gate);
  const writing = files.writeTextFile({ sessionId, path: at("slow"), content: "new" }, context);
  const reading = files.readTextFile({ sessionId, path: at("x/../slow") }, context);
  expect(await files.readTextFile({ sessionId, path: at("other") }, context)).toEqual({ content: "other" });
  open.resolve();
  await writing;
  expect(await reading).toEqual({ content: "new" });
});
