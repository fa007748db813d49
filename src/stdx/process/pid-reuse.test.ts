/** Tests pid reuse. Inside a separate PID namespace, a test can set the next pid and force an immediate reuse. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { expect, it } from "vitest";

const NAMESPACE = ["--pid", "--fork", "--kill-child", "--mount-proc"];
const canChoosePids =
  process.platform === "linux" &&
  spawnSync("unshare", [...NAMESPACE, "sh", "-c", "echo 500 > /proc/sys/kernel/ns_last_pid"]).status === 0;
const reason = canChoosePids ? "" : " (skipped: no permission to choose pids)";

/** The shell exits, its grandchild leaves the group and keeps the output open, and another process gets the shell's pid. */
const PROGRAM = `
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { startGroup } from "./stdx.mjs";
const isRunning = (pid) => { try { return !/\\) [ZX] /.test(readFileSync("/proc/" + pid + "/stat", "latin1")); } catch { return false; } };
const env = { PATH: process.env.PATH };
const group = await startGroup("sh", ["-c", "setsid sh -c 'echo $$; exec sleep 300' &"], { cwd: "/", env, marker: "reuse" });
const grandchild = Number(String((await once(group.child.stdout, "data"))[0]));
await group.ended;
const { pid } = group.identity;
let other;
for (let attempt = 0; attempt < 50 && other?.pid !== pid; attempt += 1) {
  other?.kill("SIGKILL");
  writeFileSync("/proc/sys/kernel/ns_last_pid", String(pid - 1));
  other = spawn("sleep", ["300"], { detached: true, env, stdio: "ignore" });
  await once(other, "spawn");
}
const isReused = other.pid === pid;
const heldOutput = isRunning(grandchild);
const signalled = group.signal("SIGTERM");
await group.stop();
console.log(JSON.stringify({ isReused, heldOutput, signalled, isOtherRunning: isRunning(pid) }));
process.exit(0);
`;

it.runIf(canChoosePids)(
  `never signals a process that reuses the pid and group id of a reaped shell${reason}`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "rookery-reuse-"));
    try {
      await build({
        input: fileURLToPath(new URL("../index.ts", import.meta.url)),
        platform: "node",
        transform: { target: "node20" },
        output: { file: join(folder, "stdx.mjs"), codeSplitting: false },
        logLevel: "silent",
      });
      writeFileSync(join(folder, "program.mjs"), PROGRAM);
      const options = { encoding: "utf8", env: { PATH: process.env["PATH"] }, timeout: 60_000 } as const;
      const { stdout, stderr } = spawnSync(
        "unshare",
        [...NAMESPACE, process.execPath, join(folder, "program.mjs")],
        options,
      );
      expect([stdout, stderr]).toEqual([expect.stringMatching(/^\{.*\}\n$/), ""]);
      expect(JSON.parse(stdout)).toEqual({ isReused: true, heldOutput: true, signalled: false, isOtherRunning: true });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
