import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { startTimeOf } from "../../stdx/process/identity.ts";
import { temporaryFolder } from "../../testing/index.ts";
import { collectingIo } from "../test-io.ts";
import { runPromptCommand } from "./run.ts";

/** Writes its process id into a file, whole, and then says nothing, as an agent that takes long to start. */
const SILENT = `
  const [file, fs] = [process.argv[1], require("fs")];
  fs.writeFileSync(file + ".part", String(process.pid));
  fs.renameSync(file + ".part", file);
  setInterval(() => 0, 1e6);`;

it("ends the starting agent after an interrupt, and exits as cancelled", async () => {
  await using home = await temporaryFolder();
  const io = collectingIo(home.path);
  const pidFile = join(home.path, "pid");
  const folder = join(io.env["XDG_CONFIG_HOME"] ?? "", "rookery");
  await mkdir(folder, { recursive: true });
  const command = JSON.stringify([process.execPath, "-e", SILENT, pidFile]);
  await writeFile(join(folder, "rookery.toml"), `[agents.silent]\nbackend = "acp"\ncommand = ${command}\n`);
  const code = runPromptCommand({ io, args: ["Hi"], options: { agent: "silent", permissions: "all" } });
  const pid = await vi.waitFor(async () => Number.parseInt(await readFile(pidFile, "utf8")), { timeout: 10_000 });
  expect(startTimeOf(pid)).toBeDefined();
  for (const cancel of io.onOutputClosed) cancel();
  expect(await code).toBe(130);
  expect(startTimeOf(pid)).toBeUndefined();
});
